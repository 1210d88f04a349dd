/**
 * Files that may hang with their network file system. A look holds one thread of libuv's pool, however often
 * it is asked for.
 */
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Longer than a present file takes, shorter than a reload waits, ms. */
const PATIENCE_MS = 4_000;

const underWay = new Map<string, Promise<unknown>>();

/** @throws If it cannot be read as a file: a pipe may block its reader forever. */
export function refuseIrregular(stats: Stats): void {
  if (stats.isDirectory())
    throw new Error('it is a folder; Docker makes one if the file to mount is missing');
  if (!stats.isFile()) throw new Error('not a regular file');
}

/** The text of a file, unless `refuse` throws. Rejects after 4 s, or with the signal. */
export function readSlowFile(
  path: string,
  refuse: (stats: Stats) => void,
  signal?: AbortSignal,
): Promise<string> {
  const read = async (): Promise<string> => {
    refuse(await stat(path));
    return readFile(path, 'utf8');
  };
  return within(`read ${path}`, read, signal);
}

export function statSlowFile(path: string): Promise<Stats> {
  return within(`stat ${path}`, () => stat(path));
}

/**
 * Ends this process at once, though libuv would join the threads of hanging files: another program replaces
 * this one and exits.
 */
export function endProcess(code: number): never {
  if (underWay.size > 0)
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  process.exit(code);
}

function look<Result>(question: string, ask: () => Promise<Result>): Promise<Result> {
  const known = underWay.get(question) as Promise<Result> | undefined;
  if (known) return known;
  const answer = ask();
  underWay.set(question, answer);
  const forget = (): unknown => underWay.delete(question);
  answer.then(forget, forget);
  return answer;
}

async function within<Result>(
  question: string,
  ask: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const asking = look(question, ask);
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const error = new Error(`it did not answer within ${PATIENCE_MS / 1_000} s`);
  const timer = setTimeout(() => reject(error), PATIENCE_MS);
  const abort = (): void => reject(signal?.reason as Error);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    return await Promise.race([asking, silence]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
