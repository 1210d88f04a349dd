/** The files of the configuration: read within limits, read only when complete, and read again when they change. */
import { PilotlightError } from '../contract/pilotlight-error.ts';
import { readFileSync, statSync, type Stats } from 'node:fs';
import { readSlowFile, statSlowFile } from '../client/slow-file.ts';

export interface FileState {
  readonly isFile: boolean;
  readonly mtimeMs: number;
  readonly mode: number;
}

/** Reads the text of a file. @throws What the file system says. */
export interface ReadFile {
  (path: string): string;
  /** Undefined if there is no such file. */
  readonly stat?: (path: string) => FileState | undefined;
  /** Stops this thread for so many ms. Without it a file that is being written is not waited for. */
  readonly pause?: (ms: number) => void;
}

const MOST_BYTES = 1024 * 1024;
/** How a shell hands over the output of a command: `<(command)`. */
const HANDED_OVER = /^\/(?:dev|proc\/self)\/fd\/\d+$/;

/** @throws If it is not to be read: a pipe may keep its reader for ever. */
function refuse(path: string, stats: Stats): void {
  if (!stats.isFile() && !HANDED_OVER.test(path)) throw new Error('not a regular file');
  if (stats.size > MOST_BYTES)
    throw new Error(`the file has ${stats.size} bytes; the limit is ${MOST_BYTES}`);
}

function stateOf(stats: Stats): FileState {
  return { isFile: stats.isFile(), mtimeMs: stats.mtimeMs, mode: stats.mode };
}

/** Blocks this process for as long as the file system does. */
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

/** For commands, which have nothing else to do while a file is being written. */
export const readTextPatiently: ReadFile = Object.assign((path: string) => readText(path), {
  ...readText,
  pause: (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
});

/** A file may still be being written, so what can be read may be half of it. */
export class UnfinishedFileError extends PilotlightError {
  readonly code = 'unfinished_file';
  readonly actor = 'user';

  constructor() {
    super('changed just now, and the last line has no line end: it may still be being written');
  }
}

/** A file without a line end at its end counts as complete after this time without a change: many tools omit it. */
const SETTLED_AFTER_MS = 1_000;
const MOST_WAITS = 5;

/** The text of a file that may be written while it is read. @throws UnfinishedFileError; what `readFile` throws. */
export function readComplete(path: string, readFile: ReadFile): string {
  for (let waits = 0; ; waits += 1) {
    const text = readFile(path);
    // After the text: a change between the two may be missing in the text.
    const state = readFile.stat?.(path);
    if (text.endsWith('\n') || !state?.isFile) return text;
    const ageMs = Date.now() - state.mtimeMs;
    // A change in the future: the clock was set back.
    if (ageMs < 0 || ageMs >= SETTLED_AFTER_MS) return text;
    if (readFile.pause === undefined || waits === MOST_WAITS) throw new UnfinishedFileError();
    readFile.pause(SETTLED_AFTER_MS - ageMs);
  }
}

/** The state and text of a file, or why it cannot be read. */
interface Found {
  readonly state?: FileState;
  readonly text?: string;
  readonly error?: Error;
}

/**
 * The result of `load`, which reads files as if they were in memory, without blocking this process. `load` is called
 * until it asks for no other file, so it must only read. A file that does not answer within 4 s cannot be read.
 */
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
    const result = load(Object.assign(read, { stat: (path: string) => lookUp(path).state }));
    if (missing.size === 0) return result;
    await Promise.all([...missing].map(async (path) => found.set(path, await findFile(path))));
  }
}

async function findFile(path: string): Promise<Found> {
  let state: FileState | undefined;
  try {
    state = stateOf(await statSlowFile(path));
    return { state, text: await readSlowFile(path, (stats) => refuse(path, stats)) };
  } catch (error) {
    return { ...(state && { state }), error: error as Error };
  }
}

const LOOK_EVERY_MS = 2_000;

/**
 * Calls `onChange` when files change. It polls: Kubernetes replaces a Secret by switching a symbolic link, and network
 * file systems report no changes. The first look calls it too, because a file may have changed since it was read, which
 * `fs.watchFile` would never notice.
 *
 * @returns Ends the watching.
 */
export function watchFiles(
  paths: Iterable<string>,
  onChange: () => void,
  everyMs: number = LOOK_EVERY_MS,
): () => void {
  const watched = [...new Set(paths)];
  let known = '';
  let timer: NodeJS.Timeout | undefined;
  let isEnded = watched.length === 0;
  // The next look is planned after this one, so that a file system that hangs holds up one look at most.
  const plan = (): void => {
    if (!isEnded) timer = setTimeout(() => void look().then(plan), everyMs).unref();
  };
  const look = async (): Promise<void> => {
    const found = (await Promise.all(watched.map(fingerprintOf))).join('\n');
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

/** Changes with each write, and when another file takes its place. */
async function fingerprintOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await statSlowFile(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}
