/** One step of a file's life each; file.test.ts has them in any order. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileSink, type FileSinkOptions } from '../../../../src/logs/sinks/file.ts';
import { toJsonLine } from '../../../../src/logs/sinks/stdout.ts';
import { batchOf, record, recordsFrom } from '../../../support/log-records.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const NEVER = new AbortController().signal;
const SIZE = Buffer.byteLength(toJsonLine(record(1)));

let folder: ReturnType<typeof memoryFolder>;
let path: string;
const untidy: unknown[] = [];
beforeEach(() => {
  folder = memoryFolder();
  path = join(folder.path, 'logs', 'worker.log');
  untidy.length = 0;
});
afterEach(() => folder[Symbol.dispose]());

const open = (options: Partial<FileSinkOptions> = {}) =>
  fileSink({ path, maxBytes: 1_000_000, maxFiles: 100, onUntidy: (error) => untidy.push(error), ...options });
const names = (): string[] => readdirSync(join(folder.path, 'logs')).toSorted();
const seqs = (): number[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { seq: number }).seq);

test('records are in the file when they are accepted, in a folder of their own', async () => {
  const sink = open();
  expect(await sink.write(batchOf(recordsFrom(1, 3)), NEVER)).toEqual({ rejected: 0 });
  expect([seqs(), statSync(path).mode & 0o777]).toEqual([[1, 2, 3], 0o600]);
  await sink.write(batchOf(recordsFrom(4, 1)), NEVER);
  await sink.close();
  expect([seqs(), names(), untidy]).toEqual([[1, 2, 3, 4], ['worker.log'], []]);
});

test('what stands there from before is left out', async () => {
  const first = open();
  await first.write(batchOf(recordsFrom(1, 3)), NEVER);
  await first.close();
  const second = open();
  await second.write(batchOf(recordsFrom(2, 4)), NEVER);
  // Only what comes first in a life may be there already.
  await second.write(batchOf(recordsFrom(5, 2)), NEVER);
  await second.close();
  expect(seqs()).toEqual([1, 2, 3, 4, 5, 5, 6]);
});

test('what fits stands in one file to the byte, and what does not in the next, with its mode', async () => {
  const sink = open({ maxBytes: 2 * SIZE });
  await sink.write(batchOf(recordsFrom(1, 2)), NEVER);
  expect(names()).toEqual(['worker.log']);
  chmodSync(path, 0o640);
  await sink.write(batchOf(recordsFrom(3, 3)), NEVER);
  await sink.close();
  expect(names().filter((name) => name !== 'worker.log')).toEqual([
    expect.stringMatching(/^worker\.log\.1/),
    expect.stringMatching(/^worker\.log\.2/),
  ]);
  expect([seqs(), statSync(path).mode & 0o777]).toEqual([[5], 0o640]);
});

test('a record that is larger than a file may be has one of its own', async () => {
  const sink = open({ maxBytes: SIZE / 2 });
  await sink.write(batchOf(recordsFrom(1, 2)), NEVER);
  await sink.close();
  expect(seqs()).toEqual([2]);
  expect(names()).toHaveLength(2);
});

test('rotated files are compressed when a new one has a line, and a life begins with that', async () => {
  mkdirSync(join(folder.path, 'logs'));
  writeFileSync(`${path}.1`, 'left');
  const sink = open({ maxBytes: SIZE });
  await sink.write(batchOf(recordsFrom(1, 1)), NEVER);
  await expect.poll(names, { interval: 2 }).toEqual(['worker.log', 'worker.log.1.gz']);
  await sink.write(batchOf(recordsFrom(2, 1)), NEVER);
  await expect.poll(names, { interval: 2 }).toEqual(['worker.log', 'worker.log.1.gz', 'worker.log.2.gz']);
  await sink.close();
});

test('that they cannot be is told, and delivery goes on', async () => {
  mkdirSync(join(folder.path, 'logs'));
  writeFileSync(`${path}.1`, 'left');
  mkdirSync(`${path}.1.gz.partial`);
  const sink = open();
  await sink.write(batchOf(recordsFrom(1, 1)), NEVER);
  await expect.poll(() => untidy, { interval: 2 }).toHaveLength(1);
  await sink.write(batchOf(recordsFrom(2, 1)), NEVER);
  await sink.close();
  expect(seqs()).toEqual([1, 2]);
});

test('the end ends what is being compressed, which waits for the next life, and says nothing of it', async () => {
  mkdirSync(join(folder.path, 'logs'));
  writeFileSync(`${path}.1`, randomBytes(2_000_000));
  const sink = open();
  await sink.write(batchOf(recordsFrom(1, 1)), NEVER);
  const closed = sink.close();
  expect(closed).toBeInstanceOf(Promise);
  await closed;
  expect(untidy).toEqual([]);
  expect(names()).toContain('worker.log.1');
});

test('an end that is signalled before anything is written writes nothing', async () => {
  const sink = open();
  await expect(
    sink.write(batchOf(recordsFrom(1, 1)), AbortSignal.abort(new Error('the end'))),
  ).rejects.toThrow('the end');
  expect(names()).toEqual([]);
});

test('the last line of a file that was rotated says how far delivery got, where the new one is empty', async () => {
  const first = open();
  await first.write(batchOf(recordsFrom(1, 3)), NEVER);
  await first.close();
  writeFileSync(`${path}.1`, readFileSync(path));
  rmSync(path);
  const second = open();
  await second.write(batchOf(recordsFrom(2, 3)), NEVER);
  await second.close();
  expect(seqs()).toEqual([4]);
});
