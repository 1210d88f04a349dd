/** Before and after a suite whose tests start the program: builds it as it ships (program.ts says where it is). */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './optional.ts';
import { temporaryFolder } from './temporary-folder.ts';

let folder: ReturnType<typeof temporaryFolder> | undefined;

/**
 * Bundled, it starts in a third of the time that the sources take. Once, whichever suites run: all of them start
 * the same.
 */
export function setup(): void {
  if (process.env['TEST_PROGRAM'] !== undefined) return;
  folder = temporaryFolder();
  execFileSync(process.execPath, [`${root}.config/build.ts`, folder.path], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.env['TEST_PROGRAM'] = join(folder.path, 'pilotlight.js');
}

export function teardown(): void {
  if (folder === undefined) return;
  // A test that timed out leaves its processes.
  spawnSync('pkill', ['-KILL', '-f', folder.path]);
  folder[Symbol.dispose]();
}
