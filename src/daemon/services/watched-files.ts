/**
 * Hears of files that change, by looking at them: a Secret in a pod is swapped by way of a symbolic link, and on
 * network file systems nothing is told of changes at all.
 */
import { unwatchFile, watchFile } from 'node:fs';

const LOOK_EVERY_MS = 2_000;

/** @returns What ends the watching. */
export function watchFiles(paths: Iterable<string>, onChange: () => void): () => void {
  const watched = [...new Set(paths)];
  for (const path of watched) watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, onChange);
  return () => {
    for (const path of watched) unwatchFile(path, onChange);
  };
}
