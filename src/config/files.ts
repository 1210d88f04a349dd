import { readFileSync, statSync, type Stats } from 'node:fs';
import { readSlowFile, refuseIrregular, statSlowFile } from '../client/slow-file.ts';

interface FileState {
  readonly isFile: boolean;
  readonly mtimeMs: number;
  readonly mode: number;
}

export interface ReadFile {
  (path: string): string;
  readonly stat?: (path: string) => FileState | undefined;
  /** A process that runs for long must not believe a file that is still being written. */
  readonly isWary?: boolean;
}

const MOST_BYTES = 1024 * 1024;
/** A shell hands over the output of a command so: `<(command)`. */
const HANDED_OVER = /^\/(?:dev|proc\/self)\/fd\/\d+$/;

function refuse(path: string, stats: Stats): void {
  if (!HANDED_OVER.test(path)) refuseIrregular(stats);
  if (stats.size > MOST_BYTES)
    throw new Error(`the file has ${stats.size} bytes; the limit is ${MOST_BYTES}`);
}

function stateOf(stats: Stats): FileState {
  return { isFile: stats.isFile(), mtimeMs: stats.mtimeMs, mode: stats.mode };
}

export const readText: ReadFile = Object.assign(
  (path: string): string => {
    refuse(path, statSync(path));
    return readFileSync(path, 'utf8');
  },
  {
    stat(path: string) {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats && stateOf(stats);
    },
  },
);

/** Many tools omit the last line end, so an unchanged file counts as complete after this time. */
const SETTLED_AFTER_MS = 1_000;

/** Undefined: it may still be being written. @throws what `readFile` throws. */
export function readComplete(path: string, readFile: ReadFile): string | undefined {
  const text = readFile(path);
  // After the text: a change between the two may be missing in the text.
  const state = readFile.stat?.(path);
  if (!readFile.isWary || text.endsWith('\n') || !state?.isFile) return text;
  const ageMs = Date.now() - Math.floor(state.mtimeMs);
  // A change in the future: the clock was set back.
  return ageMs < 0 || ageMs >= SETTLED_AFTER_MS ? text : undefined;
}

interface Found {
  readonly state?: FileState;
  readonly text?: string;
  readonly error?: Error;
}

/** Calls `load` until it asks for no other file, so it must only read. Each file may take 4 s. */
export async function overFiles<Result>(load: (readFile: ReadFile) => Result): Promise<Result> {
  const found = new Map<string, Found>();
  for (;;) {
    const missing = new Set<string>();
    const lookUp = (path: string): Found => {
      const known = found.get(path);
      if (known === undefined) missing.add(path);
      return known ?? { error: new Error('not read yet') };
    };
    const read = (path: string): string => {
      const { text, error } = lookUp(path);
      if (text === undefined) throw error ?? new Error('no text');
      return text;
    };
    const result = load(Object.assign(read, { isWary: true, stat: (path: string) => lookUp(path).state }));
    if (missing.size === 0) return result;
    await Promise.all([...missing].map(async (path) => found.set(path, await findFile(path))));
  }
}

async function findFile(path: string): Promise<Found> {
  try {
    const state = stateOf(await statSlowFile(path));
    return { state, text: await readSlowFile(path, (stats) => refuse(path, stats)) };
  } catch (error) {
    return { error: error as Error };
  }
}

const LOOK_EVERY_MS = 2_000;

/** Polls: Kubernetes switches a symbolic link, and network file systems report no changes. */
export function watchFiles(
  paths: Iterable<string>,
  onChange: () => void,
  everyMs: number = LOOK_EVERY_MS,
): () => void {
  const watched = [...new Set(paths)];
  let known = '';
  let timer: NodeJS.Timeout | undefined;
  let isEnded = watched.length === 0;
  // The next poll starts after this one, so a file system that hangs blocks one poll only.
  const plan = (): void => {
    if (!isEnded) timer = setTimeout(() => void look().then(plan), everyMs).unref();
  };
  const look = async (): Promise<void> => {
    const found = String(await Promise.all(watched.map(fingerprintOf)));
    if (isEnded || found === known) return;
    known = found;
    onChange();
  };
  plan();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

async function fingerprintOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await statSlowFile(path);
    return String([dev, ino, size, mtimeMs, ctimeMs]);
  } catch (error) {
    return String(error);
  }
}
