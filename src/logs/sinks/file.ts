/**
 * One JSON object a line, in a file that is rotated by size. A kill repeats no record: records are synced before they are
 * acknowledged, so the file's last line says how far delivery got. What the spool gives again up to it is left out, and a
 * torn record is cut off.
 *
 * Not rotating-file-stream: it never syncs, and a kill leaves it with lines twice, a torn archive or a torn list of files.
 */
import { constants, readlinkSync, realpathSync } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import type { Batch } from '../spool/spool-database.ts';
import { Archives, FILE_MODE, syncDirectory } from './archives.ts';
import { ALL_ACCEPTED, type Acceptance, type Sink } from './sink.ts';

export interface FileSinkOptions {
  /** A link is followed once, when the sink is made. */
  readonly path: string;
  /** Of a file, unless one record alone is larger. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Rotated files could not be compressed or removed. Their lines are safe, and it is tried again. */
  readonly onUntidy: (error: unknown) => void;
}

const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR } = constants;
const CHUNK_BYTES = 64 * 1024;
const LINE_END = 0x0a;
/** How a record of ours begins. */
const RECORD_START = /^\{"time":"[\d:.TZ-]{27}","(?:workergroup_id":\d+,"epoch"|endpoint"):/;
const RECORD_START_BYTES = 128;
/** As many as Linux follows. */
const MOST_LINKS = 40;

export function fileSink(options: FileSinkOptions): Sink {
  return new FileSink(options);
}

class FileSink implements Sink {
  readonly name = 'file';
  readonly #options: FileSinkOptions;
  readonly #archives: Archives;
  readonly #closing = new AbortController();
  #tidying: Promise<void> = Promise.resolve();
  /** The file ends with what was acknowledged last. */
  #endIsKnown = false;

  constructor(options: FileSinkOptions) {
    this.#options = { ...options, path: linkTarget(options.path) };
    this.#archives = new Archives(this.#options);
  }

  async write(batch: Batch, signal: AbortSignal): Promise<Acceptance> {
    const lines = batch.lines.map((line) => `${line}\n`);
    const isFirst = !this.#endIsKnown;
    const from = isFirst ? await this.#recover(lines) : 0;
    this.#endIsKnown = false;
    const rotations = await this.#append(lines, from, signal);
    this.#endIsKnown = true;
    if (isFirst || rotations > 0) this.#tidy();
    return ALL_ACCEPTED;
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#tidying;
  }

  /** How many of the lines are in the files already. */
  async #recover(lines: readonly string[]): Promise<number> {
    const { path } = this.#options;
    const folder = dirname(path);
    // Asynchronous: a disk that does not answer holds up this sink alone.
    await access(folder).catch(() => makePrivateFolder(folder));
    const isEmpty = (await endTornLine(path, lines)) === 0;
    const last = isEmpty ? await this.#archives.newestPlain() : path;
    return last === undefined ? 0 : 1 + (await indexOfLastLine(last, lines));
  }

  /**
   * Opens the file each time: it may have been moved or removed.
   *
   * @returns How often the file was rotated.
   */
  async #append(lines: readonly string[], from: number, signal: AbortSignal): Promise<number> {
    const { path } = this.#options;
    let rotations = 0;
    /** Of the file before, for the one after it. */
    let mode: number | undefined;
    for (let at = from; at < lines.length;) {
      signal.throwIfAborted();
      await using file = await openRegular(path, O_RDWR | O_APPEND | O_CREAT);
      if (mode !== undefined) await file.chmod(mode);
      mode = undefined;
      const count = await this.#appendWhatFits(file, lines, at);
      at += count;
      if (count > 0) continue;
      await this.#tidying; // else files pile up when they are written faster than compressed
      mode = await this.#archives.rotate();
      rotations += 1;
    }
    return rotations;
  }

  /** @returns How many lines; 0 when the file is full. */
  async #appendWhatFits(file: FileHandle, lines: readonly string[], from: number): Promise<number> {
    const { size } = await file.stat();
    // Others may have cut the file, or written a line without an end.
    const end = (await hasTornEnd(file, size)) ? '\n' : '';
    let [to, bytes] = [from, size + end.length];
    for (; to < lines.length; to++) {
      bytes += Buffer.byteLength(lines[to] ?? '');
      if (bytes > this.#options.maxBytes && (size > 0 || to > from)) break;
    }
    if (to === from) return 0;
    await file.appendFile(end + lines.slice(from, to).join(''));
    await file.datasync();
    if (size === 0) await syncDirectory(this.#options.path);
    return to - from;
  }

  #tidy(): void {
    const { signal } = this.#closing;
    this.#tidying = this.#tidying
      .then(() => this.#archives.tidy(signal))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.onUntidy(error);
      });
  }
}

/**
 * Ends a file whose last line has no end. A torn record is cut off, as it comes again. Text that somebody else wrote gets
 * a line's end.
 *
 * @param lines The next ones, with their ends. @returns Bytes of the file; 0 also if there is none.
 */
export async function endTornLine(path: string, lines: readonly string[]): Promise<number> {
  await using file = await openIfThere(path, O_RDWR);
  if (file === undefined) return 0;
  const { size } = await file.stat();
  const whole = await wholeLines(file, size);
  if (whole === size) return size;
  if (await isOurs(file, whole, lines)) {
    await file.truncate(whole);
    return whole;
  }
  await file.write('\n', size);
  return size + 1;
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
  await using file = await openIfThere(path, O_RDONLY);
  if (file === undefined) return -1;
  const { size } = await file.stat();
  const longest = lines.reduce((most, line) => Math.max(most, Buffer.byteLength(line)), 0);
  const end = await read(file, Math.max(0, size - longest), size);
  return lines.findLastIndex((line) => {
    const bytes = Buffer.from(line);
    return bytes.length <= end.length && end.subarray(end.length - bytes.length).equals(bytes);
  });
}

async function hasTornEnd(file: FileHandle, size: number): Promise<boolean> {
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
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A pipe, a device or a folder: what is written there is not kept, or comes twice. */
export class NoRegularFile extends PilotlightError {
  readonly code = 'no_regular_file';
  readonly actor = 'user';
}

/** Does not wait for the other end of a pipe. @param flags As of open(2). @throws NoRegularFile */
async function openRegular(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NONBLOCK, FILE_MODE).catch((error: unknown) => {
    // A folder, a pipe without a reader, or a socket.
    throw ['EISDIR', 'ENXIO'].includes(codeOf(error) ?? '') ? refusal(path) : error;
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

/** Where a symbolic link leads, even if nothing is there yet: rotation renames the file, and the link stays. */
function linkTarget(path: string): string {
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

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function refusal(path: string): NoRegularFile {
  return new NoRegularFile(`PILOTLIGHT_LOG_FILE is not a regular file: ${path}`);
}
