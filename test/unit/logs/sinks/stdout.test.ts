import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { LineOutput, stdoutSink } from '../../../../src/logs/sinks/stdout.ts';
import { batchOf, NEVER, recordsFrom } from '../../../support/log-records.ts';

/** A descriptor that takes so many bytes at a time, and fails where it is to take none; then it takes all. */
function descriptor(takes: readonly number[] = [], isTorn = false) {
  const left = [...takes];
  const written = { text: '' };
  const output = new LineOutput((bytes) => {
    const taken = Math.min(bytes.length, left.shift() ?? Infinity);
    if (taken === 0) return Promise.reject(new Error('ENOSPC'));
    written.text += bytes.toString('latin1', 0, taken);
    return Promise.resolve(taken);
  }, isTorn);
  return { written, output };
}

/** Writes the same again until it is taken. */
async function untilTaken(write: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    const isTaken = await write().then(
      () => true,
      () => false,
    );
    if (isTaken) return;
  }
  throw new Error('it is never taken');
}

function wholeRecords(text: string): LogRecord[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as LogRecord];
    } catch {
      return [];
    }
  });
}

test('gets one JSON object a line, with the fields in their order', async () => {
  const place = { time: '2025-01-01T00:00:00.000000Z', workergroup_id: 7, epoch: 1 };
  const gap = { reason: 'overrun' as const, lost_min: 1, lost_estimate: 350 };
  const records = [
    { ...place, seq: 123, line: 'a "line"\r10%' },
    { ...place, seq: 124, gap },
  ];
  const { written, output } = descriptor();
  await stdoutSink(output).write(batchOf(records), NEVER);
  const start = '{"time":"2025-01-01T00:00:00.000000Z","workergroup_id":7,"epoch":1,';
  expect(written.text.split('\n')).toEqual([
    String.raw`${start}"seq":123,"line":"a \"line\"\r10%"}`,
    `${start}"seq":124,"gap":{"reason":"overrun","lost_min":1,"lost_estimate":350}}`,
    '',
  ]);
});

test('however often the disk is full and freed, every record is there once, and between them torn ones', async () => {
  const takes = fc.array(fc.oneof(fc.constantFrom(0, 1), fc.nat(300)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(takes, fc.integer({ min: 1, max: 4 }), async (bytes, batches) => {
      const { written, output } = descriptor(bytes);
      const sink = stdoutSink(output);
      for (let first = 1; first <= 3 * batches; first += 3) {
        const batch = batchOf(recordsFrom(first, 3));
        await untilTaken(() => sink.write(batch, NEVER));
      }
      expect(written.text.endsWith('\n')).toBe(true);
      expect(wholeRecords(written.text)).toEqual(recordsFrom(1, 3 * batches));
    }),
  );
});

test('a torn line of another process is ended first; a batch that another sink began is written whole', async () => {
  const { written, output } = descriptor([150, 0], true);
  written.text = '{"torn":';
  await expect(stdoutSink(output).write(batchOf(recordsFrom(1, 3)), NEVER)).rejects.toThrow('ENOSPC');
  await stdoutSink(output).write(batchOf(recordsFrom(1, 3)), NEVER);
  expect(written.text).toMatch(/^\{"torn":\n\{/);
  expect(wholeRecords(written.text).map(({ seq }) => seq)).toEqual([1, 1, 2, 3]);
});

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
    const { written, output } = descriptor(takes);
    const lines = Buffer.from('one\ntwo\nthree\n');
    await untilTaken(() => output.write(lines, NEVER));
    expect(written.text).toBe(text);
  });

  test('the same lines come whole once they were written', async () => {
    const { written, output } = descriptor([4, 0]);
    const lines = Buffer.from('one\ntwo\n');
    await untilTaken(() => output.write(lines, NEVER));
    await output.write(lines, NEVER);
    expect(written.text).toBe('one\ntwo\none\ntwo\n');
  });
});
