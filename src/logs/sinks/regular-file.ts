/** Opens regular files only. */
import { constants, readlinkSync, realpathSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { PilotlightError } from '../../contract/pilotlight-error.ts';

/** A pipe, a device or a folder: what is written there is not kept, or comes twice. */
export class NoRegularFile extends PilotlightError {
  readonly code = 'no_regular_file';
  readonly actor = 'user';
}

/** Of a new file: what workers print is private, until its owner sets another mode. */
export const FILE_MODE = 0o600;

/** Does not wait for the other end of a pipe. @param flags As of open(2). @throws NoRegularFile */
export async function openRegular(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NONBLOCK, FILE_MODE).catch((error: unknown) => {
    throw isNoFile(error) ? refusal(path, error) : error;
  });
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  throw refusal(path);
}

/** As many as Linux follows. */
const MOST_LINKS = 40;

/** Where a symbolic link leads, even if nothing is there yet: rotation renames the file, and the link stays. */
export function linkTarget(path: string): string {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    try {
      const link = readlinkSync(target);
      // Not joined: ".." leads up from where a linked folder is.
      target = isAbsolute(link) ? link : `${realpathSync.native(dirname(target))}/${link}`;
    } catch {
      break; // not a link
    }
  }
  return target;
}

/** A folder, a pipe without a reader, or a socket. */
function isNoFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EISDIR' || error.code === 'ENXIO');
}

function refusal(path: string, cause?: unknown): NoRegularFile {
  return new NoRegularFile(`PILOTLIGHT_LOG_FILE is no regular file: ${path}`, { cause });
}
