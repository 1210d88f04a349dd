/**
 * Notices files that change, by polling: a Secret in a pod is replaced by switching a symbolic link, and network file
 * systems report no changes at all.
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
