/** What the end of a log file says about how far delivery got before the process was killed. */
import { open, type FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 64 * 1024;
const LINE_END = 0x0a;

/**
 * Cuts off a last line that has no end: the process was killed while it was written, and the record comes again.
 *
 * @returns Bytes of the file, all of them whole lines; 0 also when there is no file.
 */
export async function cutTornLine(path: string): Promise<number> {
  const file = await openIfThere(path, 'r+');
  if (file === undefined) return 0;
  try {
    const { size } = await file.stat();
    const whole = await wholeLines(file, size);
    if (whole < size) await file.truncate(whole);
    return whole;
  } finally {
    await file.close();
  }
}

/**
 * The place of the file's last line among `lines`, which end with a line's end each; -1 when it is not among them.
 * Comparing the file's end is enough: a record begins with `{"`, which JSON never writes inside of a string.
 */
export async function indexOfLastLine(path: string, lines: readonly string[]): Promise<number> {
  const file = await openIfThere(path, 'r');
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

/** Bytes up to the last line's end. */
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

async function openIfThere(path: string, flags: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
