import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';
import { PROGRAM } from './program.ts';

/** A folder for a PATH with a program `pilotlight` in it, which runs the sources. */
export function programFolder(): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder();
  const path = join(folder.path, 'pilotlight');
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(path, 0o755);
  return folder;
}
