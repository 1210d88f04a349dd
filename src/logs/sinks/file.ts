/**
 * One JSON object a line, in a file that is rotated by size. A kill repeats no record: records are synced before they are
 * acknowledged, so the file's last line says how far delivery got. What the spool gives again up to it is left out, and a
 * torn record is cut off.
 *
 * Not rotating-file-stream: it never syncs, and a kill leaves it with lines twice, a torn archive or a torn list of files.
 */
import { constants } from 'node:fs';
import { access, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import type { Batch } from '../spool/batch.ts';
import { Archives, syncDirectory } from './archives.ts';
import { endTornLine, hasTornEnd, indexOfLastLine } from './last-record.ts';
import { linkTarget, openRegular } from './regular-file.ts';
import { ALL_ACCEPTED, type Acceptance, type Sink } from './sink.ts';

export interface FileSinkOptions {
  /** A link is followed once, when the sink is made. */
  readonly path: string;
  /** Of a file, unless one record alone is larger. */
  readonly maxBytes: number;
  /** Rotated files to keep. */
  readonly maxFiles: number;
  /** Rotated files could not be compressed or removed. Their lines are safe, and it is tried again. */
  readonly onUntidy: (error: unknown) => void;
}

const { O_APPEND, O_CREAT, O_RDWR } = constants;

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
