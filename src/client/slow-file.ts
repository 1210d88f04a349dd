/**
 * Files that may hang: a network file system that is away answers neither yes nor no. A look at one holds up nothing but
 * a thread of libuv's pool. Each file holds one thread, however often it is asked for; after half a minute a second look
 * may find what took its place, while enough threads are free.
 */
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Longer than any file takes that is there, and shorter than a reload is waited for, ms. */
const PATIENCE_MS = 4_000;

/** A look that is older may be at a file system that is no longer mounted there, ms. */
const STALE_MS = 30_000;
/** Looks beyond which there is no second one. The heart has sixteen threads, and name lookups need some. */
const MOST_LOOKS = 8;

interface Look {
  readonly answer: Promise<unknown>;
  readonly startedAt: number;
  readonly isSecond: boolean;
}

/** The last look that has not answered yet, by question. */
const lastLooks = new Map<string, Look>();
let underWay = 0;

/** The text of a file, unless `refuse` throws at what it is. Rejects after 4 s without an answer, or with the signal. */
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

/** Rejects after 4 s without an answer. */
export function statSlowFile(path: string): Promise<Stats> {
  return within(`stat ${path}`, () => stat(path));
}

/**
 * Ends this process at once. While a file hangs, Node's own exit would wait for it, as libuv joins its threads. So
 * another program takes the place of this one, whose threads the kernel ends, and exits with the code.
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
