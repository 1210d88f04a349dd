/** Tests with a folder of their own, in memory, and the path of a log file in it: `test('…', ({ path }) => …)`. */
import { join } from 'node:path';
import { test as base } from 'vitest';
import { memoryFolder } from './temporary-folder.ts';

export const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('folder', ({}, { onCleanup }) => {
    const folder = memoryFolder();
    onCleanup(() => folder[Symbol.dispose]());
    return folder.path;
  })
  .extend('path', ({ folder }) => join(folder, 'worker.log'));
