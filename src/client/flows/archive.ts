/** The archive of a deployment: one open file, hashed, and read again for each upload; never in memory as a whole. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { AbortedError, CallError } from '../errors.ts';

export interface Archive extends AsyncDisposable {
  /** Without its folder. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256, in hexadecimal; which hash the public service takes is not documented, so this one is assumed. */
  readonly hash: string;
  /** Its bytes, once more. Throws ArchiveError at their end where they are not those that were hashed. */
  read(): AsyncIterable<Buffer>;
}

/** The archive cannot be read, is none, or was changed while it was sent. */
export class ArchiveError extends CallError {
  readonly code = 'unusable_archive';
  readonly actor = 'user';

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super('deployments.create', `${path}: ${problem}`, options);
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'may not be read',
  EISDIR: 'is a folder, and no archive',
};

/** @throws ArchiveError; AbortedError when the signal fired */
export async function openArchive(path: string, signal?: AbortSignal): Promise<Archive> {
  // A pipe that nobody writes to would otherwise not even be opened: now it is, to be refused.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  try {
    const bytes = await sizeOf(file, path);
    const hash = await hashOf(chunksOf(file, path, bytes), signal);
    return {
      name: basename(path),
      bytes,
      hash,
      read: () => checked(file, path, { bytes, hash }),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function sizeOf(file: FileHandle, path: string): Promise<number> {
  const found = await file.stat();
  if (found.isDirectory()) throw new ArchiveError(path, 'is a folder, and no archive');
  if (!found.isFile()) throw new ArchiveError(path, 'is no file');
  if (found.size === 0) throw new ArchiveError(path, 'is empty');
  return found.size;
}

const CHUNK_BYTES = 128 * 1024;

/**
 * The first `bytes` bytes: what is added meanwhile is not part of it. Read by position and not as a stream, which closes
 * the file when it is left before its end, as an upload that fails does; the next attempt reads it again.
 */
async function* chunksOf(file: FileHandle, path: string, bytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < bytes;) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes - position));
    const { bytesRead } = await file.read({ buffer, position }).catch((cause: unknown) => {
      throw unreadable(path, cause);
    });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function hashOf(chunks: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) {
    if (signal?.aborted) {
      throw new AbortedError('deployments.create', 'aborted while the archive was hashed', {
        cause: signal.reason,
      });
    }
    hash.update(chunk);
  }
  return hash.digest('hex');
}

async function* checked(
  file: FileHandle,
  path: string,
  expected: Pick<Archive, 'bytes' | 'hash'>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let bytes = 0;
  let last: Buffer | undefined;
  // One piece is held back, so that what was changed is never sent to its end.
  for await (const chunk of chunksOf(file, path, expected.bytes)) {
    hash.update(chunk);
    bytes += chunk.length;
    if (last) yield last;
    last = chunk;
  }
  if (bytes !== expected.bytes || hash.digest('hex') !== expected.hash)
    throw new ArchiveError(path, 'was changed while it was sent; make it anew, and then deploy it');
  if (last) yield last;
}

function unreadable(path: string, cause: unknown): ArchiveError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return new ArchiveError(path, PROBLEMS[code] ?? `cannot be read (${message})`, { cause });
}
