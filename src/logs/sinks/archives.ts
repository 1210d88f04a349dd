/**
 * The rotated files: `worker.log.1.gz`, `worker.log.2.gz`, …, the highest number is the newest. The next tidying finishes
 * what a kill left half done: a compressed file appears whole under its name or not at all.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Of a new file: what workers print is private, until its owner sets another mode. */
export const FILE_MODE = 0o600;
const PARTIAL = '.gz.partial';
const NUMBER = /^([1-9]\d*)(?:\.gz)?$/;
const PERMISSIONS = 0o777;

interface Archive {
  readonly number: number;
  readonly isPlain: boolean;
  readonly isCompressed: boolean;
}

export class Archives {
  readonly #path: string;
  readonly #maxFiles: number;

  constructor({ path, maxFiles }: { readonly path: string; readonly maxFiles: number }) {
    this.#path = path;
    this.#maxFiles = maxFiles;
  }

  /** Gives the file the next number. @returns Its mode, for the next file. */
  async rotate(): Promise<number> {
    const newest = (await this.#list()).at(-1)?.number ?? 0;
    const { mode } = await stat(this.#path);
    await rename(this.#path, this.#name(newest + 1));
    await syncDirectory(this.#path);
    return mode & PERMISSIONS;
  }

  /** The newest file, if it is not compressed. */
  async newestPlain(): Promise<string | undefined> {
    const newest = (await this.#archives()).at(-1);
    return newest?.isPlain ? this.#name(newest.number) : undefined;
  }

  /**
   * Removes what is too much, and compresses the others. Only once the file has a line again: until then the last line of
   * the newest archive says how far delivery got.
   */
  async tidy(signal: AbortSignal): Promise<void> {
    const archives = await this.#archives();
    for (const { number } of archives.slice(0, -this.#maxFiles)) await this.#remove(number);
    for (const archive of archives.slice(-this.#maxFiles)) {
      signal.throwIfAborted();
      if (archive.isPlain) await this.#compress(archive, signal);
    }
  }

  async #compress({ number, isCompressed }: Archive, signal: AbortSignal): Promise<void> {
    const plain = this.#name(number);
    if (!isCompressed) {
      const partial = plain + PARTIAL;
      const { mode } = await stat(plain);
      // flush: it must be on disk before its source is removed.
      const target = createWriteStream(partial, { flush: true, mode: FILE_MODE });
      await pipeline(createReadStream(plain), createGzip(), target, { signal });
      await chmod(partial, mode & PERMISSIONS);
      await rename(partial, `${plain}.gz`);
      await syncDirectory(plain);
    }
    await rm(plain);
  }

  async #remove(number: number): Promise<void> {
    for (const suffix of ['', '.gz', PARTIAL]) await rm(this.#name(number) + suffix, { force: true });
  }

  /** Without pipes and folders of such a name. */
  async #archives(): Promise<readonly Archive[]> {
    return (await this.#list()).filter(({ isPlain, isCompressed }) => isPlain || isCompressed);
  }

  /** All taken numbers, in order. */
  async #list(): Promise<readonly Archive[]> {
    const entries = await readdir(dirname(this.#path), { withFileTypes: true });
    const files = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    const prefix = `${basename(this.#path)}.`;
    const numbers = entries
      .filter(({ name }) => name.startsWith(prefix))
      .flatMap(({ name }) => NUMBER.exec(name.slice(prefix.length))?.[1] ?? []);
    return [...new Set(numbers)]
      .map(Number)
      .sort((one, other) => one - other)
      .map((number) => ({
        number,
        isPlain: files.has(`${prefix}${number}`),
        isCompressed: files.has(`${prefix}${number}.gz`),
      }));
  }

  #name(number: number): string {
    return join(dirname(this.#path), `${basename(this.#path)}.${number}`);
  }
}

/** A new name is on disk once its directory is. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(dirname(path)).catch(() => undefined);
  // Platforms that do not let a directory be opened or synced need no help.
  await directory?.sync().catch(() => {});
  await directory?.close();
}
