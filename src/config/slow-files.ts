/** The configuration's files, read without holding up anything. */
import { readSlowFile, statSlowFile } from '../client/slow-file.ts';
import { notReadable, type FileState, type ReadFile } from './values.ts';

/** What a file said: its state and text, or what was wrong. */
interface Found {
  readonly state?: FileState;
  readonly text?: string;
  readonly error?: Error;
}

/**
 * The result of `load`, which reads files as if they were in memory. It is called until it has asked for no other file,
 * so it must not do anything but read. A file that does not answer within seconds is one that cannot be read.
 */
export async function overFiles<Result>(load: (readFile: ReadFile) => Result): Promise<Result> {
  const found = new Map<string, Found>();
  for (;;) {
    const missing = new Set<string>();
    const lookUp = (path: string): Found => {
      const known = found.get(path);
      if (known === undefined) missing.add(path);
      return known ?? { error: new Error('it is not read yet') };
    };
    const read = (path: string): string => {
      const { text, error } = lookUp(path);
      if (text === undefined) throw error ?? new Error('it has no text');
      return text;
    };
    const result = load(Object.assign(read, { stat: (path: string) => lookUp(path).state }));
    if (missing.size === 0) return result;
    await Promise.all([...missing].map(async (path) => found.set(path, await findFile(path))));
  }
}

async function findFile(path: string): Promise<Found> {
  try {
    const stats = await statSlowFile(path);
    const state = { isFile: stats.isFile(), mtimeMs: stats.mtimeMs, mode: stats.mode };
    try {
      return { state, text: await readSlowFile(path, (now) => refuse(path, now)) };
    } catch (error) {
      return { state, error: error as Error };
    }
  } catch (error) {
    return { error: error as Error };
  }
}

function refuse(path: string, stats: Parameters<typeof notReadable>[1]): void {
  const problem = notReadable(path, stats);
  if (problem !== undefined) throw new Error(problem);
}
