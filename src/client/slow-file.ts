/**
 * Files that may hang with their network file system. A look holds one thread of libuv's pool, however often
 * it is asked for; after half a minute a second one may find a new mount.
 */
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Longer than a present file takes, shorter than a reload waits, ms. */
const PATIENCE_MS = 4_000;

const STALE_MS = 30_000;
/** The heart has sixteen threads, and name lookups need some. */
const MOST_LOOKS = 8;

interface Look {
  readonly answer: Promise<unknown>;
  readonly startedAt: number;
  readonly isSecond: boolean;
}

const lastLooks = new Map<string, Look>();
let underWay = 0;

/** @throws If it cannot be read as a file: a pipe may block its reader forever. */
export function refuseIrregular(stats: Stats): void {
  if (stats.isDirectory())
    throw new Error('it is a folder; Docker makes one if the file to mount is missing');
  if (!stats.isFile()) throw new Error('not a regular file');
}

/** The text of a file, unless `refuse` throws. Rejects after 4 s, or with the signal. */
export function readSlowFile(
  path: string,
  refuse: (stats: Stats) => void,
  signal?: AbortSignal,
): Promise<string> {
  const read = async (): Promise<string> => {
    refuse(await stat(path));
    return readFile(path, 'utf8');
  };
  return within(`read ${path}`, read, signal);
}

export function statSlowFile(path: string): Promise<Stats> {
  return within(`stat ${path}`, () => stat(path));
}

/**
 * Ends this process at once, though libuv would join the threads of hanging files: another program replaces
 * this one and exits.
 */
export function endProcess(code: number): never {
  if (underWay > 0)
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  process.exit(code);
}

function mayLookAgain({ startedAt, isSecond }: Look): boolean {
  return !isSecond && underWay < MOST_LOOKS && performance.now() - startedAt > STALE_MS;
}

function look(question: string, ask: () => Promise<unknown>, before: Look | undefined): Look {
  underWay += 1;
  const answer = ask().finally(() => {
    underWay -= 1;
    if (lastLooks.get(question) === own) lastLooks.delete(question);
  });
  answer.catch(() => {});
  const own: Look = { answer, startedAt: performance.now(), isSecond: before !== undefined };
  lastLooks.set(question, own);
  return own;
}

async function within<Result>(
  question: string,
  ask: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const last = lastLooks.get(question);
  const { answer } = last === undefined || mayLookAgain(last) ? look(question, ask, last) : last;
  const asking = answer as Promise<Result>;
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const error = new Error(`it did not answer within ${PATIENCE_MS / 1_000} s`);
  const timer = setTimeout(() => reject(error), PATIENCE_MS);
  const abort = (): void => reject(signal?.reason as Error);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    return await Promise.race([asking, silence]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
