import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { LineOutput, stdoutSink } from '../../../../src/logs/sinks/stdout.ts';
import { batchOf, NEVER, recordsFrom } from '../../../support/log-records.ts';

/** A disk that has room for so many bytes; one byte at a time where it is `slow`. */
class Disk {
  text = '';
  room = Infinity;
  slow = false;

  output(isTorn = false): LineOutput {
    return new LineOutput((bytes) => {
      if (this.room === 0) return Promise.reject(new Error('ENOSPC'));
      const taken = Math.min(bytes.length, this.room, this.slow ? 1 : Infinity);
      this.room -= taken;
      this.text += bytes.toString('latin1', 0, taken);
      return Promise.resolve(taken);
    }, isTorn);
  }
}

test('gets one JSON object a line, with the fields in their order', async () => {
  const place = { time: '2025-01-01T00:00:00.000000Z', workergroup_id: 7, epoch: 1 };
  const gap = { reason: 'overrun' as const, lost_min: 1, lost_estimate: 350 };
  const records = [
    { ...place, seq: 123, line: 'a "line"\r10%' },
    { ...place, seq: 124, gap },
  ];
  const disk = new Disk();
  await stdoutSink(disk.output()).write(batchOf(records), NEVER);
  const start = '{"time":"2025-01-01T00:00:00.000000Z","workergroup_id":7,"epoch":1,';
  expect(disk.text.split('\n')).toEqual([
    String.raw`${start}"seq":123,"line":"a \"line\"\r10%"}`,
    `${start}"seq":124,"gap":{"reason":"overrun","lost_min":1,"lost_estimate":350}}`,
    '',
  ]);
});

test('however often the disk is full and freed, every record is there once, and between them torn ones', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(300), { maxLength: 8 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      async (rooms, slow, batches) => {
        const disk = new Disk();
        disk.slow = slow;
        const sink = stdoutSink(disk.output());
        for (let first = 1; first <= 3 * batches; first += 3) {
          const batch = batchOf(recordsFrom(first, 3));
          for (let accepted = false; !accepted;) {
            disk.room = rooms.shift() ?? Infinity;
            accepted = await sink.write(batch, NEVER).then(
              () => true,
              () => false,
            );
          }
        }
        expect(disk.text.endsWith('\n')).toBe(true);
        expect(wholeRecords(disk.text)).toEqual(recordsFrom(1, 3 * batches));
      },
    ),
  );
});

test('a torn line of another process is ended first; a batch that another sink began is written whole', async () => {
  const disk = new Disk();
  disk.text = '{"torn":';
  const output = disk.output(true);
  disk.room = 150;
  await expect(stdoutSink(output).write(batchOf(recordsFrom(1, 3)), NEVER)).rejects.toThrow('ENOSPC');
  disk.room = Infinity;
  await stdoutSink(output).write(batchOf(recordsFrom(1, 3)), NEVER);
  expect(disk.text).toMatch(/^\{"torn":\n\{/);
  expect(wholeRecords(disk.text).map(({ seq }) => seq)).toEqual([1, 1, 2, 3]);
});

function wholeRecords(text: string): LogRecord[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as LogRecord];
    } catch {
      return [];
    }
  });
}

const bytesOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''));

/** A descriptor that takes so many bytes at a time, and fails where it is to take none. */
function descriptor(takes: number[] = []) {
  const parts: Buffer[] = [];
  const written = {
    calls: 0,
    get text() {
      return Buffer.concat(parts).toString();
    },
  };
  const write = (bytes: Buffer): Promise<number> => {
    written.calls += 1;
    const most = takes.shift() ?? Infinity;
    if (most === 0) return Promise.reject(new Error('ENOSPC'));
    const taken = bytes.subarray(0, Math.min(bytes.length, most));
    parts.push(taken);
    return Promise.resolve(taken.length);
  };
  return { written, write };
}

describe('after a failure', () => {
  test.each([
    ['before the first byte', [0], 'one\ntwo\nthree\n'],
    ['within a line', [2, 0], 'on\none\ntwo\nthree\n'],
    ['before a line’s end', [3, 0], 'one\ntwo\nthree\n'],
    ['behind a line’s end', [4, 0], 'one\ntwo\nthree\n'],
    ['within a later line', [6, 0], 'one\ntw\ntwo\nthree\n'],
    ['before the last line’s end', [13, 0], 'one\ntwo\nthree\n'],
    ['twice within a line', [2, 0, 3, 0], 'on\non\none\ntwo\nthree\n'],
    ['and another before a line’s end', [3, 0, 1, 0], 'one\ntwo\nthree\n'],
  ])('%s the same lines go on where they were torn', async (_what, takes, text) => {
    const { written, write } = descriptor([...takes]);
    const output = new LineOutput(write);
    const lines = bytesOf(['one', 'two', 'three']);
    for (let tries = 0; ; tries += 1) {
      if (tries > 5) throw new Error('it never ends');
      const isDone = await output.write(lines, NEVER).then(
        () => true,
        () => false,
      );
      if (isDone) break;
    }
    expect(written.text).toBe(text);
  });

  test('other lines are written from their beginning', async () => {
    const { written, write } = descriptor([4, 0]);
    const output = new LineOutput(write);
    await expect(output.write(bytesOf(['one', 'two']), NEVER)).rejects.toThrow('ENOSPC');
    await output.write(bytesOf(['one', 'two']), NEVER);
    expect(written.text).toBe('one\none\ntwo\n');
  });

  test('the same lines come whole once they were written', async () => {
    const { written, write } = descriptor([4, 0]);
    const output = new LineOutput(write);
    const lines = bytesOf(['one', 'two']);
    await expect(output.write(lines, NEVER)).rejects.toThrow('ENOSPC');
    await output.write(lines, NEVER);
    await output.write(lines, NEVER);
    expect(written.text).toBe('one\ntwo\none\ntwo\n');
  });
});
