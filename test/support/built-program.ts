/** Before and after a suite whose tests start the program: builds it as it ships (program.ts says where it is). */
import { spawnSync } from 'node:child_process';
import { bundleInto } from './bundle.ts';
import { temporaryFolder } from './temporary-folder.ts';

let folder: ReturnType<typeof temporaryFolder> | undefined;

/** Once, whichever suites run: all of them start the same. */
export function setup(): void {
  if (process.env['TEST_PROGRAM'] !== undefined) return;
  folder = temporaryFolder();
  process.env['TEST_PROGRAM'] = bundleInto(folder.path);
}

export function teardown(): void {
  if (folder === undefined) return;
  // A test that timed out leaves its processes.
  spawnSync('pkill', ['-KILL', '-f', folder.path]);
  folder[Symbol.dispose]();
}
