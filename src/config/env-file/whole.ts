/**
 * A file that somebody writes while it is read may be cut anywhere, or empty, and what is left of it may be a valid
 * configuration with half of the deployments. So one that has changed just now, and whose last line has no end, is not
 * believed yet. One without that end that has been there for a while is whole: many tools leave it out.
 */
import { statFile, type FileState, type ReadFile } from '../values.ts';

/** After its last change, ms. */
const SETTLED_AFTER_MS = 1_000;
/** Whoever writes for longer than so many times that is waited for no longer. */
const MOST_WAITS = 5;

export interface FileWaits {
  readonly now: () => number;
  /** Keeps this thread from doing anything else. */
  readonly pause: (ms: number) => void;
}

const SYSTEM: FileWaits = {
  now: () => Date.now(),
  pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

export const BEING_WRITTEN =
  'it has just changed and its last line has no end: it may still be being written';

/** @throws What `readFile` throws, and where it is being written and must not, or need no longer, be waited for. */
export function readWhole(
  file: string,
  readFile: ReadFile,
  mayWait: boolean,
  { now, pause } = SYSTEM,
): string {
  for (let waits = mayWait ? MOST_WAITS : 0; ; waits -= 1) {
    const text = readFile(file);
    if (text.endsWith('\n')) return text;
    // Looked up after it was read: a change in between is one that the text may have missed.
    const ageMs = now() - changedAt((readFile.stat ?? statFile)(file));
    // A clock that was set back makes it one of the future.
    if (ageMs < 0 || ageMs >= SETTLED_AFTER_MS) return text;
    if (waits === 0) throw new Error(BEING_WRITTEN);
    pause(SETTLED_AFTER_MS - ageMs);
  }
}

/** Unix ms; of what is no file, long ago: a pipe has an end. */
function changedAt(state: FileState | undefined): number {
  return state?.isFile ? state.mtimeMs : -Infinity;
}
