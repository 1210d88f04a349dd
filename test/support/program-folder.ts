import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './optional.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A folder for a PATH with a program `pilotlight` in it, which runs the sources. */
export function programFolder(): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder();
  const path = join(folder.path, 'pilotlight');
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${root}src/cli/main.ts' "$@"\n`);
  chmodSync(path, 0o755);
  return folder;
}
