import { describe, expect, test } from 'vitest';
import {
  afterPending,
  goesOn,
  isAwaited,
  lastState,
  pendingLine,
  restingLine,
  restoredPending,
} from '../../../../src/logs/tail/last/last-line.ts';

const NOW = 1_000_000;

describe('a pending line that has ended', () => {
  test.each([
    ['none was there', undefined, ['a', 'b'], { lines: ['a', 'b'] }],
    ['nothing of it was delivered', pendingLine('begi', NOW), ['begin', 'b'], { lines: ['begin', 'b'] }],
    ['the rest is to come', pendingLine('begi', NOW, 4), ['begin', 'b'], { lines: ['n', 'b'], continues: 0 }],
    ['all was delivered', pendingLine('begin', NOW, 5), ['begin', 'b'], { lines: ['b'] }],
    [
      'late lines came before it',
      pendingLine('begi', NOW, 4),
      ['late', 'begin'],
      { lines: ['late', 'n'], continues: 1 },
    ],
    ['a part of it was delivered', pendingLine('begi', NOW, 2), ['begin'], { lines: ['gin'], continues: 0 }],
    ['it became another', pendingLine('begi', NOW, 4), ['other'], { lines: ['other'] }],
  ])('where %s', (_what, pending, fresh, delivered) => {
    expect(afterPending(pending, fresh)).toEqual(delivered);
  });
});

test.each([
  ['begi', ['a', 'begin'], undefined, true],
  ['begi', ['a', 'it begi'], undefined, false],
  ['begi', ['a'], 'begin', true],
  ['begi', ['a'], 'other', false],
  ['begi', ['a'], undefined, false],
  [undefined, ['a', 'begin'], undefined, false],
] as const)('%s goes on behind the first of %j and %s: %s', (text, lines, unended, is) => {
  const pending = text === undefined ? undefined : pendingLine(text, NOW);
  expect(goesOn(pending, { lines, ...(unended !== undefined && { unended }) }, 1)).toBe(is);
});

describe('a last line without an end', () => {
  const service = { endsLines: false, now: NOW, intervalMs: 1_000 };
  const at = (age: number, text = 'line', taken = 0) => pendingLine(text, NOW - age, taken);

  test('is waited for from when it is first seen', () => {
    expect(restingLine(undefined, { lines: [], unended: 'line' }, service)).toEqual({
      lines: [],
      pending: { text: 'line', taken: 0, since: NOW },
    });
    expect(restingLine(undefined, { lines: ['a'] }, service)).toEqual({ lines: [] });
  });

  test('is delivered when it has rested for an interval and five seconds', () => {
    const text = { lines: [], unended: 'line' };
    expect(restingLine(at(5_999), text, service)).toEqual({ lines: [], pending: at(5_999) });
    expect(restingLine(at(6_000), text, service)).toEqual({ lines: ['line'], pending: at(6_000, 'line', 4) });
    expect(restingLine(at(60_000, 'line', 4), text, service)).toEqual({
      lines: [],
      pending: at(60_000, 'line', 4),
    });
    expect(restingLine(at(60_000, 'line', 2), text, service)).toEqual({
      lines: ['ne'],
      continues: 0,
      pending: at(60_000, 'line', 4),
    });
  });

  test('waits for its end for ever, where the service ends its lines', () => {
    const text = { lines: [], unended: 'line' };
    expect(restingLine(at(600_000), text, { ...service, endsLines: true })).toEqual({
      lines: [],
      pending: at(600_000),
    });
  });

  test('begins to rest anew when it has grown, and what was delivered of it stays so', () => {
    expect(restingLine(at(60_000, 'li', 2), { lines: [], unended: 'line' }, service).pending).toEqual({
      text: 'line',
      taken: 2,
      since: NOW,
    });
    expect(restingLine(at(60_000, 'li', 2), { lines: [], unended: 'other' }, service).pending).toEqual({
      text: 'other',
      taken: 0,
      since: NOW,
    });
  });

  test('stays as it is in an older view, which has less of it, or nothing', () => {
    for (const unended of ['li', 'l'])
      expect(restingLine(at(60_000), { lines: [], unended }, service)).toEqual({
        lines: [],
        pending: at(60_000),
      });
    expect(restingLine(at(60_000), { lines: ['a'] }, service)).toEqual({ lines: [], pending: at(60_000) });
  });

  test('rests from now on where the clock was set back', () => {
    const ahead = at(-90_000);
    expect(restingLine(ahead, { lines: [], unended: 'line' }, service)).toEqual({
      lines: [],
      pending: { text: 'line', taken: 0, since: NOW },
    });
  });
});

test('a line is awaited while some of it is to come and the service does not end its lines', () => {
  const pending = pendingLine('line', NOW, 3);
  expect(isAwaited({ endsLines: false, pending })).toBe(true);
  expect(isAwaited({ endsLines: true, pending })).toBe(false);
  expect(isAwaited({ endsLines: false, pending: { ...pending, taken: 4 } })).toBe(false);
  expect(isAwaited({ endsLines: false })).toBe(false);
});

test('what an earlier version kept is read as all or nothing', () => {
  const kept = { text: 'line', since: NOW };
  expect(restoredPending({ ...kept, delivered: true })).toEqual({ ...kept, taken: 4 });
  expect(restoredPending({ ...kept, delivered: false })).toEqual({ ...kept, taken: 0 });
  expect(restoredPending({ ...kept, taken: 2 })).toEqual({ ...kept, taken: 2 });
});

test.each([
  ['plain', 'plain'],
  ['10%\r100%', '100%'],
  ['1\r2\r3', '3'],
  ['1\r', ''],
])('of %j is left %j', (line, left) => {
  expect(lastState(line)).toBe(left);
});
