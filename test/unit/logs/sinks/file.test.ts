import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fc from '../../../support/fast-check.ts';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { fileSink, type FileSinkOptions } from '../../../../src/logs/sinks/file.ts';
import type { Sink } from '../../../../src/logs/sinks/sink.ts';
import { toJsonLine } from '../../../../src/logs/sinks/stdout.ts';
import { readLogFiles, rotatedFiles } from '../../../support/log-files.ts';
import { test } from '../../../support/log-folder.ts';
import { batchOf, NEVER, numbers, record, recordsFrom } from '../../../support/log-records.ts';
import { describeOnSmallDisk, smallDisk } from '../../../support/small-disk.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const SIZE = Buffer.byteLength(toJsonLine(record(1)));

/** Closing it fails where files could not be tidied. */
function open(path: string, options: Partial<FileSinkOptions> = {}): Sink {
  const onUntidy = (error: unknown) => {
    throw error;
  };
  return fileSink({ path, maxBytes: 2 ** 20, maxFiles: 1_000_000, onUntidy, ...options });
}

const write = (sink: Sink, seq: number, count = 1) => sink.write(batchOf(recordsFrom(seq, count)), NEVER);

/** One process' life: writes, and ends in good order. */
async function deliver(path: string, records: readonly LogRecord[]): Promise<void> {
  const sink = open(path);
  await sink.write(batchOf(records), NEVER);
  await sink.close();
}

const namesBeside = (path: string): readonly string[] => readdirSync(dirname(path)).toSorted();

/** What is done in the background is done, and the sink closed. */
async function tidied(sink: Sink, path: string): Promise<void> {
  const untidy = () => namesBeside(path).filter((name) => /\.(?:\d+|partial)$/.test(name));
  await expect.poll(untidy, { interval: 2 }).toEqual([]);
  await sink.close();
}

/** Lets so many pieces of a write through and then ends it, as a kill between two of them does. */
function endingAfter(pieces: number): AbortSignal {
  let left = pieces;
  return Object.assign(new AbortController().signal, {
    throwIfAborted() {
      if (left-- <= 0) throw new Error('killed');
    },
  });
}

const seqsIn = (path: string) => readLogFiles(path).map(({ seq }) => seq);

test('has each record once and in order, wherever a write failed or was killed', async () => {
  const kill = fc.record({ pieces: fc.nat(4), torn: fc.nat(250), survived: fc.boolean() });
  const batch = fc.record({
    size: fc.integer({ min: 1, max: 12 }),
    kills: fc.array(kill, { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(batch, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 100, max: 1_500 }),
      async (batches, maxBytes) => {
        using folder = memoryFolder();
        const path = join(folder.path, 'worker.log');
        let sink = open(path, { maxBytes });
        let seq = 0;
        for (const { size, kills } of batches) {
          const records = recordsFrom(seq + 1, size);
          for (const { pieces, torn, survived } of kills) {
            const written = await sink.write(batchOf(records), endingAfter(pieces)).catch(() => 'half');
            // A write may also fail half done in a process that lives on: the disk is full, say.
            if (survived && written === 'half') continue;
            await sink.close();
            tear(path, torn, seq);
            sink = open(path, { maxBytes });
          }
          await sink.write(batchOf(records), NEVER);
          seq += size;
        }
        await sink.close();
        expect(seqsIn(path)).toEqual(numbers(1, seq));
      },
    ),
    { numRuns: 20 },
  );
});

test('has accepted records, in a folder of its own, for its owner alone', async ({ folder }) => {
  const path = join(folder, 'logs', 'worker.log');
  const sink = open(path);
  expect(await write(sink, 1, 3)).toEqual({ rejected: 0 });
  expect([sink.name, seqsIn(path), statSync(path).mode & 0o777]).toEqual(['file', [1, 2, 3], 0o600]);
  await write(sink, 4);
  await sink.close();
  expect([seqsIn(path), namesBeside(path)]).toEqual([[1, 2, 3, 4], ['worker.log']]);
});

test('leaves out what stands there from before, if it comes first in a life', async ({ path }) => {
  await deliver(path, recordsFrom(1, 3));
  const sink = open(path);
  await write(sink, 2, 4);
  await write(sink, 5, 2);
  await sink.close();
  expect(seqsIn(path)).toEqual([1, 2, 3, 4, 5, 5, 6]);
});

test('does not go by numbers alone: without a STATE_DIR they begin anew', async ({ path }) => {
  await deliver(path, recordsFrom(1, 3));
  await deliver(
    path,
    recordsFrom(1, 3).map((one) => Object.assign(one, { time: '2025-01-01T00:00:09.000000Z' })),
  );
  expect(seqsIn(path)).toEqual([1, 2, 3, 1, 2, 3]);
});

test('becomes no larger than it may, and keeps so many rotated files, compressed', async ({ path }) => {
  const sink = open(path, { maxBytes: 2_000, maxFiles: 3 });
  for (let seq = 1; seq <= 991; seq += 10) {
    await write(sink, seq, 10);
    expect(statSync(path).size).toBeLessThanOrEqual(2_000);
  }
  await tidied(sink, path);
  const files = rotatedFiles(path);
  expect(files).toHaveLength(3);
  expect(files.every((name) => name.endsWith('.gz'))).toBe(true);
  const last = gunzipSync(readFileSync(join(dirname(path), files[2] ?? '')));
  expect(last.length).toBeGreaterThan(1_800);
  expect(last.length).toBeLessThanOrEqual(2_000);
  const kept = seqsIn(path);
  expect(kept).toEqual(numbers(1_001 - kept.length, 1_000));
});

test('has what fits to the byte, and the next one what does not, with its mode', async ({ path }) => {
  const sink = open(path, { maxBytes: 2 * SIZE });
  await write(sink, 1, 2);
  expect(namesBeside(path)).toEqual(['worker.log']);
  chmodSync(path, 0o640);
  await write(sink, 3, 3);
  await sink.close();
  expect(rotatedFiles(path)).toHaveLength(2);
  expect([seqsIn(path), statSync(path).mode & 0o777]).toEqual([numbers(1, 5), 0o640]);
  expect(readFileSync(path, 'utf8')).toBe(toJsonLine(record(5)));
});

test('takes a record that alone is larger than a file may be', async ({ path }) => {
  const sink = open(path, { maxBytes: 1_000 });
  await sink.write(batchOf([record(1), record(2, 'x'.repeat(5_000)), record(3)]), NEVER);
  await tidied(sink, path);
  expect(seqsIn(path)).toEqual([1, 2, 3]);
  expect(rotatedFiles(path)).toEqual(['worker.log.1.gz', 'worker.log.2.gz']);
});

test.for([
  ['by its own way', 'worker.log', 'logs/../all.log'],
  ['by the way to it', 'logs/../current.log', 'all.log'],
  ['and has a link in it', 'logs/worker.log', '../all.log'],
] as const)('through a linked folder %s is where the system has it', async ([, path, link], { folder }) => {
  const at = (...names: string[]): string => join(folder, ...names);
  mkdirSync(at('disk', 'logs'), { recursive: true });
  mkdirSync(at('app'));
  symlinkSync(at('disk', 'logs'), at('app', 'logs'));
  symlinkSync(link, `${at('app')}/${path}`);
  const before = readdirSync(at('app'));
  await deliver(`${at('app')}/${path}`, [record(1)]);
  expect(readdirSync(at('app'))).toEqual(before);
  expect(readFileSync(at('disk', 'all.log'), 'utf8')).toContain('"seq":1');
});

test('that is a link stays one, and is rotated where it leads', async ({ folder, path }) => {
  const target = join(folder, 'volume', 'all.log');
  mkdirSync(dirname(target));
  symlinkSync(target, path);
  const sink = open(path, { maxBytes: 300 });
  for (const seq of numbers(1, 20)) await write(sink, seq);
  await tidied(sink, target);
  expect(namesBeside(path)).toEqual(['volume', 'worker.log']);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(namesBeside(target).length).toBeGreaterThan(2);
});

test('compresses rotated files at its first write, and when a new one has a line', async ({ path }) => {
  writeFileSync(`${path}.1`, 'left');
  const sink = open(path, { maxBytes: SIZE });
  await write(sink, 1);
  const names = () => namesBeside(path);
  await expect.poll(names, { interval: 2 }).toEqual(['worker.log', 'worker.log.1.gz']);
  await write(sink, 2);
  await expect.poll(names, { interval: 2 }).toEqual(['worker.log', 'worker.log.1.gz', 'worker.log.2.gz']);
  await sink.close();
});

test('tells that it cannot compress them, and goes on', async ({ path }) => {
  writeFileSync(`${path}.1`, 'left');
  mkdirSync(`${path}.1.gz.partial`);
  const untidy: unknown[] = [];
  const sink = open(path, { onUntidy: (error) => untidy.push(error) });
  await write(sink, 1);
  await expect.poll(() => untidy, { interval: 2 }).toHaveLength(1);
  await write(sink, 2);
  await sink.close();
  expect(readFileSync(path, 'utf8')).toBe(recordsFrom(1, 2).map(toJsonLine).join(''));
});

test('leaves what is being compressed for the next life, and says nothing of it', async ({ path }) => {
  writeFileSync(`${path}.1`, randomBytes(2_000_000));
  const sink = open(path);
  await write(sink, 1);
  const modeOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.mode ?? 0;
  await expect.poll(() => modeOf(`${path}.1.gz.partial`) & 0o777, { interval: 1 }).toBe(0o600);
  const closed = sink.close();
  expect(closed).toBeInstanceOf(Promise);
  await closed;
  expect(namesBeside(path)).toContain('worker.log.1');
});

test('writes nothing where the end is signalled before', async ({ path }) => {
  const ended = AbortSignal.abort(new Error('the end'));
  await expect(open(path).write(batchOf([record(1)]), ended)).rejects.toThrow('the end');
  expect(namesBeside(path)).toEqual([]);
});

test.for([
  ['not made', undefined],
  ['cut', '{"time":"2025'],
] as const)('finds in the file before where it was, if the new one is %s', async ([, begun], { path }) => {
  writeFileSync(`${path}.1`, recordsFrom(1, 3).map(toJsonLine).join(''));
  if (begun !== undefined) writeFileSync(path, begun);
  const sink = open(path);
  await write(sink, 2, 4);
  await tidied(sink, path);
  expect(seqsIn(path)).toEqual(numbers(1, 5));
});

test.for<[string, number, (path: string) => void]>([
  ['removed', 4, rmSync],
  // Whether it is compressed at the end is chance: the first tidying may have looked before it was there.
  ['rotated', 1, (path) => renameSync(path, `${path}.1`)],
])('goes on in a new file when the file was %s from outside', async ([, first, moveAway], { path }) => {
  const sink = open(path);
  await write(sink, 1, 3);
  moveAway(path);
  await write(sink, 4, 3);
  await sink.close();
  expect(seqsIn(path)).toEqual(numbers(first, 6));
});

test.for<[string, (path: string) => unknown]>([
  ['a folder', (path) => mkdirSync(path)],
  ['a pipe that nobody reads', (path) => execFileSync('mkfifo', [path])],
  ['a device', (path) => symlinkSync('/dev/null', path)],
  ['a socket', (path) => once(createServer().listen(path).unref(), 'listening')],
])('in whose place stands %s writes nothing until it is a file again', async ([, put], { path }) => {
  const sink = open(path);
  await write(sink, 1, 3);
  renameSync(path, `${path}.before`);
  await put(path);
  const batch = batchOf(recordsFrom(4, 3));
  for (const _attempt of [1, 2])
    await expect(sink.write(batch, NEVER)).rejects.toMatchObject({
      code: 'no_regular_file',
      actor: 'user',
      message: `PILOTLIGHT_LOG_FILE is not a regular file: ${path}`,
    });
  rmSync(path, { recursive: true });
  await sink.write(batch, NEVER);
  await sink.close();
  expect(seqsIn(path)).toEqual(numbers(1, 6));
});

test('in whose place stands a pipe with a reader writes nothing into it', async ({ path }) => {
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const sink = open(path);
  await expect(write(sink, 1, 3)).rejects.toThrow('not a regular file');
  expect(readSync(reader, Buffer.alloc(10))).toBe(0);
  closeSync(reader);
  await sink.close();
});

test('begins a line of its own behind a cut file, or a line without an end', async ({ path }) => {
  const sink = open(path);
  const line = toJsonLine(record(1));
  await write(sink, 1);
  truncateSync(path, line.length - 20);
  await write(sink, 2);
  appendFileSync(path, 'of somebody else');
  await write(sink, 3);
  await sink.close();
  expect(readFileSync(path, 'utf8')).toBe(
    `${line.slice(0, -20)}\n${toJsonLine(record(2))}of somebody else\n${toJsonLine(record(3))}`,
  );
});

describeOnSmallDisk('the file sink', () => {
  test.for([
    ['full', 'fill', 'free', 'ENOSPC'],
    ['read-only', 'readOnly', 'writable', 'EROFS'],
  ] as const)('on a disk that is %s for a while has each record once', async ([, begin, end, code]) => {
    using disk = smallDisk(256);
    const path = join(disk.path, 'worker.log');
    const sink = open(path, { maxBytes: 1_000_000 });
    await write(sink, 1, 100);
    disk[begin]();
    const batch = batchOf(recordsFrom(101, 900));
    for (const _attempt of [1, 2]) await expect(sink.write(batch, NEVER)).rejects.toThrow(code);
    disk[end]();
    await sink.write(batch, NEVER);
    await sink.close();
    expect(seqsIn(path)).toEqual(numbers(1, 1_000));
  });
});

/** Takes bytes off the end, as a kill within a write does; never what was acknowledged, up to a number. */
function tear(path: string, bytes: number, seq: number): void {
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8');
  const acknowledged = toJsonLine(record(seq));
  const end = text.lastIndexOf(acknowledged);
  const least = end < 0 ? 0 : end + acknowledged.length;
  truncateSync(path, Math.max(least, text.length - bytes));
}
