/**
 * Files that may hang: a network file system that is away answers neither yes nor no. A look at one holds up nothing but
 * a thread of libuv's pool, and each file holds one thread at most, however often it is asked for.
 */
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Longer than any file takes that is there, and shorter than a reload is waited for, ms. */
const PATIENCE_MS = 4_000;

/** What has not answered yet, by path and question. */
const underWay = new Map<string, Promise<unknown>>();

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
  if (underWay.size > 0)
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  process.exit(code);
}

async function within<Result>(
  question: string,
  ask: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  let asking = underWay.get(question) as Promise<Result> | undefined;
  if (asking === undefined) {
    asking = ask().finally(() => underWay.delete(question));
    asking.catch(() => {});
    underWay.set(question, asking);
  }
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
