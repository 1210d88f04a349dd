/** What the daemon's process is started with. */
import type { Environment } from './values.ts';

const VARIABLE = 'MALLOC_MMAP_THRESHOLD_';
/** Bytes: where glibc's own limit begins. */
const LIMIT = '131072';

/**
 * The heart's environment. Where that keeps malloc from holding on to larger blocks, as the image does, the daemon's limit
 * is higher: with the heart's, what each answer of thousands of log lines is read with goes back to the system and is asked
 * for again, page by page, which takes a third of all processor time. At rest both limits need the same.
 */
export function daemonEnvironment(environment: Environment = process.env): Environment {
  return environment[VARIABLE] === undefined ? environment : { ...environment, [VARIABLE]: LIMIT };
}
