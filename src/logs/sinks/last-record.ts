/** How far delivery got, by the end of a log file. */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegular } from './regular-file.ts';

const CHUNK_BYTES = 64 * 1024;
const LINE_END = 0x0a;

/** How a record of ours begins. */
const RECORD_START = /^\{"time":"[\d:.TZ-]{27}","(?:workergroup_id":\d+,"epoch"|endpoint"):/;
const RECORD_START_BYTES = 128;

/**
 * Ends a file whose last line has no end. A torn record is cut off, as it comes again. Text that somebody else wrote gets
 * a line's end.
 *
 * @param lines The next ones, with their ends. @returns Bytes of the file; 0 also if there is none.
 */
export async function endTornLine(path: string, lines: readonly string[]): Promise<number> {
  const file = await openIfThere(path, constants.O_RDWR);
  if (file === undefined) return 0;
  try {
    const { size } = await file.stat();
    const whole = await wholeLines(file, size);
    if (whole === size) return size;
    if (await isOurs(file, whole, lines)) {
      await file.truncate(whole);
      return whole;
    }
    await file.write('\n', size);
    return size + 1;
  } finally {
    await file.close();
  }
}

/** Whether a torn line is a record of ours: by how it begins, or because one of the next begins so. */
async function isOurs(file: FileHandle, start: number, lines: readonly string[]): Promise<boolean> {
  const beginning = await read(file, start, start + RECORD_START_BYTES);
  if (RECORD_START.test(beginning.toString('latin1'))) return true;
  return lines.some((line) => {
    const bytes = Buffer.from(line.slice(0, RECORD_START_BYTES));
    return bytes.subarray(0, beginning.length).equals(beginning);
  });
}

/**
 * The place of the file's last line among `lines`, which have their ends; -1 if it is none of them. Comparing the file's
 * end is enough: a record begins with `{"`, which JSON never writes within a string.
 */
export async function indexOfLastLine(path: string, lines: readonly string[]): Promise<number> {
  const file = await openIfThere(path, constants.O_RDONLY);
  if (file === undefined) return -1;
  try {
    const { size } = await file.stat();
    const longest = lines.reduce((most, line) => Math.max(most, Buffer.byteLength(line)), 0);
    const end = await read(file, Math.max(0, size - longest), size);
    return lines.findLastIndex((line) => {
      const bytes = Buffer.from(line);
      return bytes.length <= end.length && end.subarray(end.length - bytes.length).equals(bytes);
    });
  } finally {
    await file.close();
  }
}

export async function hasTornEnd(file: FileHandle, size: number): Promise<boolean> {
  const last = await read(file, Math.max(0, size - 1), size);
  return last.length > 0 && last[0] !== LINE_END;
}

async function wholeLines(file: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; end -= CHUNK_BYTES) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const at = (await read(file, start, end)).lastIndexOf(LINE_END);
    if (at >= 0) return start + at + 1;
  }
  return 0;
}

async function read(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function openIfThere(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await openRegular(path, flags);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
