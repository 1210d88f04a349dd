import { describe, expect, test } from 'vitest';
import { numberRecords, type RecordNumbers, type TakenByLevel } from '../../../../src/logs/tail/numbering.ts';
import { EMPTY_STREAM, type Taken } from '../../../../src/logs/tail/stream.ts';

/** Unix ms. */
const NOW = Date.UTC(2026, 0, 1);
const MICROS = NOW * 1000;
const BEFORE: RecordNumbers = { epoch: 3, seq: 41, time: MICROS - 5_000_000 };

const taken = (level: string, more: Partial<Taken> = {}): TakenByLevel => [
  level,
  { kind: 'taken', stream: EMPTY_STREAM, lines: [], ...more },
];
const number = (all: readonly TakenByLevel[], progress = BEFORE, now = NOW, forgotten = false) =>
  numberRecords({ workergroupId: 7, progress, forgotten }, all, now);
const RESET = { reason: 'reset', lost_min: 1, lost_estimate: 2 } as const;

test('lines have the next numbers and times that go up by a microsecond', () => {
  const { records, progress } = number([taken('', { lines: ['a', '1\r2'] })]);
  const place = { workergroup_id: 7, epoch: 3 };
  expect(records).toEqual([
    { ...place, time: '2026-01-01T00:00:00.000000Z', seq: 42, line: 'a' },
    { ...place, time: '2026-01-01T00:00:00.000001Z', seq: 43, line: '2' },
  ]);
  expect(progress).toEqual({ epoch: 3, seq: 43, time: MICROS + 1 });
});

test('nothing taken is nothing numbered', () => {
  expect(number([taken('')])).toEqual({ records: [], progress: BEFORE });
});

test('what is the rest of a line says so, and what is of a level has its name', () => {
  const { records } = number([taken('debug', { lines: ['a', 'b'], continues: 1 })]);
  expect(records).toMatchObject([
    { line: 'a', level: 'debug' },
    { line: 'b', level: 'debug', continues: true },
  ]);
  expect(records[0]).not.toHaveProperty('continues');
});

test('a line that is out of reach now goes before all gaps, in the old epoch', () => {
  const { records } = number([
    taken('info', { parting: '1\r2', gap: RESET, lines: ['new'] }),
    taken('debug', { gap: { ...RESET, reason: 'overrun' } }),
  ]);
  expect(records).toMatchObject([
    { seq: 42, epoch: 3, line: '2', level: 'info' },
    { seq: 43, epoch: 4, gap: RESET, level: 'info' },
    { seq: 44, epoch: 4, line: 'new', level: 'info' },
    { seq: 45, epoch: 4, gap: { reason: 'overrun' }, level: 'debug' },
  ]);
});

test('where nothing is known any more of what was taken, a gap comes first', () => {
  const { records } = number([taken('', { lines: ['a'] })], BEFORE, NOW, true);
  expect(records).toMatchObject([
    { seq: 42, epoch: 3, gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 } },
    { seq: 43, line: 'a' },
  ]);
});

describe('a log that begins anew', () => {
  const anew = (level: string) => taken(level, { gap: RESET });

  test('begins an epoch, once for its levels within a minute', () => {
    const first = number([anew('info')]).progress;
    expect(first).toMatchObject({ epoch: 4, began: { at: NOW, levels: ['info'] } });
    const second = number([anew('debug')], first, NOW + 59_999).progress;
    expect(second).toMatchObject({ epoch: 4, began: { at: NOW, levels: ['info', 'debug'] } });
    expect(number([anew('trace')], second, NOW + 60_000).progress).toMatchObject({
      epoch: 5,
      began: { at: NOW + 60_000, levels: ['trace'] },
    });
    // A clock that was set back by less is no other start.
    expect(number([anew('trace')], second, NOW - 59_999).progress.epoch).toBe(4);
    expect(number([anew('trace')], second, NOW - 60_000).progress.epoch).toBe(5);
  });

  test('of a level that did so already begins another', () => {
    const first = number([anew('info')]).progress;
    expect(number([anew('debug'), anew('info')], first, NOW + 1_000).progress).toMatchObject({
      epoch: 5,
      began: { at: NOW + 1_000, levels: ['debug', 'info'] },
    });
  });

  test('is remembered while nothing does', () => {
    const { progress } = number([anew('info')]);
    expect(number([taken('info', { lines: ['a'] })], progress).progress.began).toEqual(progress.began);
  });
});

describe('times', () => {
  const timeAt = (last: number) =>
    number([taken('', { lines: ['a'] })], { ...BEFORE, time: last }).progress.time;

  test('go up though the clock was set back by up to a minute, and follow it where it was by more', () => {
    expect(timeAt(MICROS - 1)).toBe(MICROS);
    expect(timeAt(MICROS)).toBe(MICROS + 1);
    expect(timeAt(MICROS + 59_999_999)).toBe(MICROS + 60_000_000);
    expect(timeAt(MICROS + 60_000_000)).toBe(MICROS);
  });
});
