/** What stands under the name of a rotated file and is none: nothing of it is ours, and nothing waits for it. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileSink, type FileSinkOptions } from '../../../../src/logs/sinks/file.ts';
import { readLogFiles } from '../../../support/log-files.ts';
import { batchOf, recordsFrom } from '../../../support/log-records.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const NEVER = new AbortController().signal;

/** Of a few records, so that each batch begins a new one. */
const SMALL: Pick<FileSinkOptions, 'maxBytes' | 'maxFiles' | 'onUntidy'> = {
  maxBytes: 500,
  maxFiles: 100,
  onUntidy(error) {
    throw error;
  },
};

describe.each<[string, (path: string) => void]>([
  ['a pipe that nobody writes', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a link to itself', (path) => symlinkSync(path, path)],
])('%s', (_, put) => {
  test('is passed over by rotation, and left as it is', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    const sink = fileSink({ path, ...SMALL });
    await sink.write(batchOf(recordsFrom(1, 1)), NEVER);
    put(`${path}.2`);
    const before = lstatSync(`${path}.2`);
    for (let first = 2; first <= 92; first += 10) await sink.write(batchOf(recordsFrom(first, 10)), NEVER);
    await sink.close();
    expect(lstatSync(`${path}.2`).ino).toBe(before.ino);
    rmSync(`${path}.2`, { recursive: true });
    expect(readLogFiles(path).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 101 }, (__, index) => index + 1),
    );
  });

  test('does not keep a new file from being begun', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    put(`${path}.1`);
    // A kill may come between the making of a file and its first line.
    writeFileSync(path, '');
    const sink = fileSink({ path, ...SMALL, maxBytes: 1_000_000 });
    await sink.write(batchOf(recordsFrom(1, 3)), NEVER);
    await sink.close();
    rmSync(`${path}.1`, { recursive: true });
    expect(readLogFiles(path).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });
});
