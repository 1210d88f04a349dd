import { execFileSync } from 'node:child_process';
import * as fc from '../../../support/fast-check.ts';

import {
  appendFileSync,
  closeSync,
  constants,
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
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { fileSink } from '../../../../src/logs/sinks/file.ts';
import type { Sink } from '../../../../src/logs/sinks/sink.ts';
import { toJsonLine } from '../../../../src/logs/sinks/stdout.ts';
import { readLogFiles, rotatedFiles } from '../../../support/log-files.ts';
import { batchOf, record, recordsFrom } from '../../../support/log-records.ts';
import { describeWith } from '../../../support/optional.ts';
import { canMount, smallDisk } from '../../../support/small-disk.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const NEVER = new AbortController().signal;
const MEBIBYTE = 2 ** 20;

function open(path: string, { maxBytes = MEBIBYTE, maxFiles = 1_000_000 } = {}): Sink {
  const onUntidy = (error: unknown) => {
    throw error;
  };
  return fileSink({ path, maxBytes, maxFiles, onUntidy });
}

/** One process' life: writes, and ends in good order. */
async function deliver(path: string, records: readonly LogRecord[]): Promise<void> {
  const sink = open(path);
  await sink.write(batchOf(records), NEVER);
  await sink.close();
}

/** What is done in the background is done, and the sink closed. */
async function tidied(sink: Sink, path: string): Promise<void> {
  const untidy = () => readdirSync(dirname(path)).filter((name) => /\.(?:\d+|partial)$/.test(name));
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

const seqs = (records: readonly LogRecord[]) => records.map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('the file sink', () => {
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
            const acknowledged = toJsonLine(record(seq)).length;
            for (const { pieces, torn, survived } of kills) {
              const written = await sink.write(batchOf(records), endingAfter(pieces)).catch(() => 'half');
              // A write may also fail half done in a process that lives on: the disk is full, say.
              if (survived && written === 'half') continue;
              await sink.close();
              tear(path, torn, acknowledged, seq);
              sink = open(path, { maxBytes });
            }
            await sink.write(batchOf(records), NEVER);
            seq += size;
          }
          await sink.close();
          expect(seqs(readLogFiles(path))).toEqual(upTo(seq));
        },
      ),
      { numRuns: 20 },
    );
  }, 120_000);

  test('becomes no larger than it may, and keeps so many rotated files, compressed', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'logs', 'worker.log');
    const sink = open(path, { maxBytes: 2_000, maxFiles: 3 });
    for (let seq = 1; seq <= 991; seq += 10) {
      await sink.write(batchOf(recordsFrom(seq, 10)), NEVER);
      expect(statSync(path).size).toBeLessThanOrEqual(2_000);
    }
    await tidied(sink, path);
    const files = rotatedFiles(path);
    expect(files).toHaveLength(3);
    expect(files.every((name) => name.endsWith('.gz'))).toBe(true);
    const last = gunzipSync(readFileSync(join(folder.path, 'logs', files[2] ?? '')));
    expect(last.length).toBeGreaterThan(1_800);
    expect(last.length).toBeLessThanOrEqual(2_000);
    const kept = seqs(readLogFiles(path));
    expect(kept.at(-1)).toBe(1_000);
    expect(kept).toEqual(upTo(1_000).slice(-kept.length));
  });

  test('which is a link in a folder that is one too is where the system has it', async () => {
    using folder = memoryFolder();
    const at = (...names: string[]): string => join(folder.path, ...names);
    mkdirSync(at('data', 'logs'), { recursive: true });
    symlinkSync(at('data', 'logs'), at('logs'));
    symlinkSync('../current', at('logs', 'worker.log'));
    await deliver(at('logs', 'worker.log'), [record(1)]);
    expect(readdirSync(at('data')).toSorted()).toEqual(['current', 'logs']);
  });

  test.each([
    ['by its own way', 'worker.log'],
    ['by the way to it', 'logs/../current.log'],
  ])('which goes up from a folder that is a link, %s, is where the system has it', async (_, path) => {
    using folder = memoryFolder();
    const at = (...names: string[]): string => join(folder.path, ...names);
    mkdirSync(at('disk', 'logs'), { recursive: true });
    mkdirSync(at('app'));
    symlinkSync(at('disk', 'logs'), at('app', 'logs'));
    symlinkSync('logs/../all.log', at('app', 'worker.log'));
    symlinkSync('all.log', at('disk', 'current.log'));
    await deliver(`${at('app')}/${path}`, [record(1)]);
    expect(readdirSync(at('app')).toSorted()).toEqual(['logs', 'worker.log']);
    expect(readFileSync(at('disk', 'all.log'), 'utf8')).toContain('"seq":1');
  });

  test('which is a symbolic link is rotated where the link leads, and stays one', async () => {
    using folder = memoryFolder();
    const [link, target] = [join(folder.path, 'worker.log'), join(folder.path, 'volume', 'all.log')];
    mkdirSync(dirname(target));
    symlinkSync('volume/all.log', link);
    const sink = open(link, { maxBytes: 300 });
    for (const one of recordsFrom(1, 20)) await sink.write(batchOf([one]), NEVER);
    await tidied(sink, target);
    expect(readdirSync(folder.path).toSorted()).toEqual(['volume', 'worker.log']);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readdirSync(dirname(target)).length).toBeGreaterThan(2);
  });

  test('takes a record that alone is larger than a file may be', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    const sink = open(path, { maxBytes: 1_000 });
    await sink.write(batchOf([record(1), record(2, 'x'.repeat(5_000)), record(3)]), NEVER);
    await tidied(sink, path);
    expect(seqs(readLogFiles(path))).toEqual([1, 2, 3]);
    expect(rotatedFiles(path)).toEqual(['worker.log.1.gz', 'worker.log.2.gz']);
  });

  test('finishes what a kill left of compressing, at any of its steps', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    const text = (seq: number) => recordsFrom(seq, 2).map(toJsonLine).join('');
    writeFileSync(`${path}.1`, text(1)); // compressed, not removed yet
    writeFileSync(`${path}.1.gz`, gzipSync(text(1)));
    writeFileSync(`${path}.2`, text(3)); // being compressed
    writeFileSync(`${path}.2.gz.partial`, gzipSync(text(3)).subarray(0, 20));
    writeFileSync(`${path}.3`, text(5)); // not begun
    writeFileSync(`${path}.old`, 'of somebody else');
    const sink = open(path);
    await sink.write(batchOf(recordsFrom(7, 2)), NEVER);
    await tidied(sink, path);
    expect(rotatedFiles(path).toSorted()).toEqual([
      'worker.log.1.gz',
      'worker.log.2.gz',
      'worker.log.3.gz',
      'worker.log.old',
    ]);
    rmSync(`${path}.old`);
    expect(seqs(readLogFiles(path))).toEqual(upTo(8));
  });

  test('finds the end of the last record of a file that was rotated and not begun anew', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    writeFileSync(`${path}.1`, recordsFrom(1, 3).map(toJsonLine).join(''));
    writeFileSync(path, '{"time":"2025');
    const sink = open(path);
    await sink.write(batchOf(recordsFrom(2, 4)), NEVER);
    await tidied(sink, path);
    expect(seqs(readLogFiles(path))).toEqual(upTo(5));
  });

  test('leaves nothing out because of its number alone: without a STATE_DIR numbers begin anew', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    await deliver(path, recordsFrom(1, 3));
    const later = [1, 2, 3].map((seq) => Object.assign(record(seq), { time: '2025-01-01T00:00:09.000000Z' }));
    await deliver(path, later);
    expect(seqs(readLogFiles(path))).toEqual([1, 2, 3, 1, 2, 3]);
  });

  test('goes on in a new file when the file was removed from outside', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    const sink = open(path);
    await sink.write(batchOf(recordsFrom(1, 3)), NEVER);
    rmSync(path);
    await sink.write(batchOf(recordsFrom(4, 3)), NEVER);
    await sink.close();
    expect(seqs(readLogFiles(path))).toEqual([4, 5, 6]);
  });

  test.each<[string, (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a pipe that nobody reads', (path) => execFileSync('mkfifo', [path])],
    ['a device', (path) => symlinkSync('/dev/null', path)],
  ])('in whose place stands %s writes nothing, and delivers when it is a file again', async (_, put) => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    const sink = open(path);
    await sink.write(batchOf(recordsFrom(1, 3)), NEVER);
    renameSync(path, `${path}.before`);
    put(path);
    const batch = batchOf(recordsFrom(4, 3));
    for (const _attempt of [1, 2])
      await expect(sink.write(batch, NEVER)).rejects.toThrow('PILOTLIGHT_LOG_FILE is no regular file');
    rmSync(path, { recursive: true });
    await sink.write(batch, NEVER);
    await sink.close();
    expect(seqs(readLogFiles(path))).toEqual(upTo(6));
  });

  test('in whose place stands a pipe with a reader writes nothing into it', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const sink = open(path);
    await expect(sink.write(batchOf(recordsFrom(1, 3)), NEVER)).rejects.toThrow('no regular file');
    expect(readSync(reader, Buffer.alloc(10))).toBe(0);
    closeSync(reader);
    await sink.close();
  });

  test('goes on in a new file when the file was rotated from outside', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    const sink = open(path);
    await sink.write(batchOf(recordsFrom(1, 3)), NEVER);
    renameSync(path, `${path}.1`);
    await sink.write(batchOf(recordsFrom(4, 3)), NEVER);
    // Whether it is compressed by now is chance: the first tidying may have looked before it was there.
    await sink.close();
    expect(seqs(readLogFiles(path))).toEqual(upTo(6));
  });

  test.each([
    ['a line of somebody else', 'started by hand, no line end'],
    ['JSON of somebody else', '{"time":"2025-01-01T00:00:00.000000Z","message":"hello'],
    ['a byte', '['],
  ])('cuts nothing off that is not its own: %s gets its line end', async (_, text) => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    writeFileSync(path, `earlier\n${text}`);
    await deliver(path, recordsFrom(1, 2));
    expect(readFileSync(path, 'utf8')).toBe(
      `earlier\n${text}\n${recordsFrom(1, 2).map(toJsonLine).join('')}`,
    );
  });

  test('begins a line of its own where others have cut the file meanwhile, or left a line without an end', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    const sink = open(path);
    const line = toJsonLine(record(1));
    await sink.write(batchOf([record(1)]), NEVER);
    truncateSync(path, line.length - 20);
    await sink.write(batchOf([record(2)]), NEVER);
    appendFileSync(path, 'of somebody else');
    await sink.write(batchOf([record(3)]), NEVER);
    await sink.close();
    expect(readFileSync(path, 'utf8')).toBe(
      `${line.slice(0, -20)}\n${toJsonLine(record(2))}of somebody else\n${toJsonLine(record(3))}`,
    );
  });

  test('cuts off a record of its own, however short a piece of it is there, and one that does not come again', async () => {
    for (const bytes of [1, 5, 60, 90]) {
      using folder = memoryFolder();
      const path = join(folder.path, 'worker.log');
      writeFileSync(path, `earlier\n${toJsonLine(record(1)).slice(0, bytes)}`);
      await deliver(path, recordsFrom(1, 2));
      expect(readFileSync(path, 'utf8')).toBe(`earlier\n${recordsFrom(1, 2).map(toJsonLine).join('')}`);
    }
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    writeFileSync(path, toJsonLine(record(9)).slice(0, 90));
    await deliver(path, recordsFrom(1, 2));
    expect(seqs(readLogFiles(path))).toEqual([1, 2]);
  });

  test('cuts off a torn last line of many megabytes', async () => {
    using folder = memoryFolder();
    const path = join(folder.path, 'worker.log');
    await deliver(path, [record(1)]);
    appendFileSync(path, toJsonLine(record(2, 'é'.repeat(5_000_000))).slice(0, -100));
    await deliver(path, [record(1), record(2, 'é'.repeat(5_000_000)), record(3)]);
    expect(seqs(readLogFiles(path))).toEqual([1, 2, 3]);
  });
});

describeWith(
  'mount',
  canMount,
  'run as root, where tmpfs can be mounted',
)('the file sink', () => {
  test.each(['full', 'read-only'])('on a disk that is %s for a while has each record once', async (what) => {
    using disk = smallDisk(256);
    const path = join(disk.path, 'worker.log');
    const sink = open(path, { maxBytes: 1_000_000 });
    await sink.write(batchOf(recordsFrom(1, 100)), NEVER);
    if (what === 'full') disk.fill();
    else disk.readOnly();
    const batch = batchOf(recordsFrom(101, 900));
    const code = what === 'full' ? 'ENOSPC' : 'EROFS';
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(sink.write(batch, NEVER)).rejects.toThrow(code);
    if (what === 'full') disk.free();
    else disk.writable();
    await sink.write(batch, NEVER);
    await sink.close();
    expect(seqs(readLogFiles(path))).toEqual(upTo(1_000));
  });
});

/** Takes bytes off the end, as a kill within a write does; never what was acknowledged. */
function tear(path: string, bytes: number, acknowledged: number, seq: number): void {
  const text = safeRead(path);
  const end = text.lastIndexOf(toJsonLine(record(seq)));
  const least = end < 0 ? 0 : end + acknowledged;
  if (text !== '') truncateSync(path, Math.max(least, text.length - bytes));
}

function safeRead(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
