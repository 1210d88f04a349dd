/** One file or named pipe in a folder of its own, and what a test has opened of it. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const MOST_BYTES = 1024 * 1024;

export interface OpenedFile extends Disposable {
  readonly path: string;
  /** @returns A descriptor, which is closed with the folder. */
  open(flags: number | string): number;
  close(fd: number): void;
  /** A named pipe that takes 64 KiB, as that of a container's output does. */
  pipe(): { readonly reader: number; readonly writer: number };
}

export function openedFile(name: string): OpenedFile {
  const folder = temporaryFolder();
  const path = join(folder.path, name);
  const opened = new Set<number>();
  const open = (flags: number | string): number => {
    const fd = openSync(path, flags);
    opened.add(fd);
    return fd;
  };
  const close = (fd: number) => {
    opened.delete(fd);
    closeSync(fd);
  };
  return {
    path,
    open,
    close,
    pipe() {
      execFileSync('mkfifo', [path]);
      const reader = open(O_RDONLY | O_NONBLOCK);
      return { reader, writer: open(O_WRONLY | O_NONBLOCK) };
    },
    [Symbol.dispose]() {
      for (const fd of opened) close(fd);
      folder[Symbol.dispose]();
    },
  };
}

/** What waits in a pipe; nothing where nothing does. */
export function taken(reader: number): string {
  const bytes = Buffer.alloc(MOST_BYTES);
  try {
    return bytes.subarray(0, readSync(reader, bytes)).toString();
  } catch {
    return '';
  }
}
