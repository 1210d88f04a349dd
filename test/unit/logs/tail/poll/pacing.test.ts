/** When to ask next, and for how much, as far as the last poll tells. */
import { describe, expect, test } from 'vitest';
import { beginGroup } from '../../../../../src/logs/tail/group.ts';
import type { TakenByLevel } from '../../../../../src/logs/tail/numbering.ts';
import type { GroupState, TextPoll } from '../../../../../src/logs/tail/poll/group-state.ts';
import { expectedLines, pacedBy, pollAfter, tailNow } from '../../../../../src/logs/tail/poll/pacing.ts';
import { endsIn, hasAll, reachesAbove, withWholeTop } from '../../../../../src/logs/tail/poll/unsettled.ts';
import { EMPTY_STREAM, type Taken } from '../../../../../src/logs/tail/stream.ts';

const NOW = 10_000_000;

function stateOf(over: Partial<GroupState> = {}, progress: Partial<GroupState['progress']> = {}): GroupState {
  const begun = beginGroup({ workergroupId: 7, start: 'all' });
  return { ...begun, begun: true, ...over, progress: { ...begun.progress, ...progress } };
}

const taken = (count: number, more: Partial<Taken> = {}): TakenByLevel => [
  '',
  { kind: 'taken', stream: EMPTY_STREAM, lines: Array.from({ length: count }, () => 'line'), ...more },
];
const OVERRUN = { reason: 'overrun', lost_min: 1, lost_estimate: 5 } as const;
const RESET = { ...OVERRUN, reason: 'reset' } as const;

function textPoll(lines: readonly string[], more: Partial<TextPoll> = {}): TextPoll {
  return { tail: 200, now: NOW, roundTripMs: 30, texts: [['', { lines: [...lines] }]], ...more };
}
const POLL = textPoll([]);

describe('the rate', () => {
  test('is that of what came since lines were last taken, by all levels', () => {
    const state = stateOf({ takenAt: NOW - 2_000 });
    const { linesPerSecond, pace } = pacedBy(state, [taken(8), taken(2)], POLL, false);
    expect(linesPerSecond).toBeCloseTo(5);
    expect(pace).toMatchObject({ peakRate: 5, intervalMs: 1_000, roundTripMs: 30 });
  });

  test('of the first poll of a process is told, and says nothing of what to expect', () => {
    const state = stateOf({}, { seq: 5, time: (NOW - 4_000) * 1_000 });
    const { linesPerSecond, pace } = pacedBy(state, [taken(8)], POLL, false);
    expect(linesPerSecond).toBe(2);
    expect(pace.peakRate).toBe(0);
    expect(pacedBy(stateOf(), [taken(8)], POLL, false).linesPerSecond).toBe(0);
  });

  test('stays as it was where the answer came before one that was taken', () => {
    for (const takenAt of [NOW, NOW + 1]) {
      const state = stateOf({ takenAt }, { linesPerSecond: 3 });
      const found = pacedBy(state, [taken(8, { ceiling: 50 })], POLL, false);
      expect(found).toEqual({ pace: state.pace, linesPerSecond: 3, ceiling: 50 });
    }
  });

  test('is not told by lines that cannot be told from others, and asked for less often', () => {
    const state = stateOf({ takenAt: NOW - 2_000 }, { linesPerSecond: 3 });
    const doubted = { stream: { ...EMPTY_STREAM, doubted: true } };
    const found = pacedBy(state, [taken(0, doubted)], POLL, false);
    expect(found.linesPerSecond).toBe(3);
    expect(found.pace).toEqual({ ...state.pace, intervalMs: 1.5 * state.pace.intervalMs });
    expect(pacedBy(state, [taken(4, doubted)], POLL, false).linesPerSecond).toBe(2);
    expect(pacedBy(state, [taken(0)], POLL, false).linesPerSecond).toBe(0);
  });

  test('knows of an overrun, of a line that is waited for, of late lines and of a tail that was needed', () => {
    const state = stateOf({ takenAt: NOW - 2_000 });
    expect(pacedBy(state, [taken(4, { gap: OVERRUN })], POLL, false).pace.ranOver).toBe(true);
    expect(pacedBy(state, [taken(4, { gap: RESET })], POLL, false).pace.ranOver).toBe(false);
    expect(pacedBy(state, [taken(0)], POLL, false).pace.intervalMs).toBe(1_500);
    expect(pacedBy(state, [taken(0)], POLL, true).pace.intervalMs).toBe(1_000);
    expect(pacedBy(state, [taken(1, { lateDepth: 450 }), taken(1)], POLL, false).pace.neededTail).toBe(900);
    const widened = (isNeeded: boolean) =>
      pacedBy({ ...state, widened: { tail: 200, isNeeded } }, [taken(1)], POLL, false).pace.neededTail;
    expect([widened(true), widened(false)]).toEqual([200, 0]);
  });

  test('has a ceiling: the highest that was found, until a log begins anew', () => {
    const state = stateOf({ takenAt: NOW - 2_000 }, { ceiling: 500 });
    const ceilingAfter = (...all: TakenByLevel[]) => pacedBy(state, all, POLL, false).ceiling;
    expect(ceilingAfter(taken(1))).toBe(500);
    expect(ceilingAfter(taken(1, { ceiling: 60 }), taken(1, { ceiling: 70 }))).toBe(70);
    expect(ceilingAfter(taken(1, { ceiling: 60 }), taken(1, { gap: RESET }))).toBe(10_000);
  });
});

describe('the next poll', () => {
  test('asks for what the rate makes likely until then', () => {
    const pace = { ...stateOf().pace, peakRate: 100, roundTripMs: 0 };
    const state = stateOf({ takenAt: NOW - 1_000, pace });
    expect(pollAfter(state, NOW, 1_000)).toEqual({ delayMs: 1_000, tail: 750 });
    expect(pollAfter(state, NOW, 3_000).tail).toBe(1_500);
  });

  test('asks for all there is where nothing is known of the time that passed', () => {
    expect(pollAfter(stateOf(), NOW, 1_000).tail).toBe(10_000);
    expect(pollAfter(stateOf({ takenAt: NOW + 1 }), NOW, 1_000).tail).toBe(10_000);
    expect(pollAfter(stateOf({ takenAt: NOW }), NOW, 1_000).tail).toBe(200);
    const sizeLimit = { fits: 5_000, fails: 9_000, failedAt: NOW, waitMs: 60_000 };
    expect(pollAfter(stateOf({}, { sizeLimit, bytesPerLine: 50 }), NOW, 1_000).tail).toBe(100);
    // By then it may be tried again.
    expect(pollAfter(stateOf({}, { sizeLimit, bytesPerLine: 50 }), NOW, 60_000).tail).toBe(180);
  });
});

describe('lines that are expected', () => {
  const known = { linesPerSecond: 4, seq: 9, time: (NOW - 3_000) * 1_000 };

  test('are those of the rate since some were taken, if only by an earlier process', () => {
    expect(expectedLines(stateOf({ takenAt: NOW - 500 }, known), NOW)).toBe(2);
    expect(expectedLines(stateOf({}, known), NOW)).toBe(12);
  });

  test('are not known without a rate, without a time, or where the clock was set back', () => {
    expect(expectedLines(stateOf({ takenAt: NOW - 500 }), NOW)).toBeUndefined();
    expect(expectedLines(stateOf({}, { ...known, seq: 0 }), NOW)).toBeUndefined();
    expect(expectedLines(stateOf({ takenAt: NOW + 500 }, known), NOW)).toBeUndefined();
    const pace = { ...stateOf().pace, recentMs: 5 };
    expect(expectedLines(stateOf({ takenAt: NOW - 500, pace }), NOW)).toBe(0);
  });
});

describe('two answers beside each other', () => {
  const ten = Array.from({ length: 10 }, (_, index) => `line ${index}`);

  test('one has all of another whose first line may be cut', () => {
    expect(hasAll(textPoll(ten), textPoll(['e 2', ...ten.slice(3, 7)]))).toBe(true);
    expect(hasAll(textPoll(ten), textPoll(['e 2', 'line 3', 'line 5']))).toBe(false);
    // No part of a line counts for it.
    expect(hasAll(textPoll(['first', 'in line 3']), textPoll(['cut', 'line 3']))).toBe(false);
    expect(hasAll(textPoll(ten), textPoll(ten, { texts: [['debug', { lines: ten }]] }))).toBe(false);
    expect(hasAll(textPoll([]), textPoll(['one']))).toBe(true);
  });

  test('also with late lines among them since, where five lines or more stand in both but once', () => {
    const late = ten.toSpliced(6, 0, 'late').toSpliced(3, 0, 'later');
    expect(hasAll(textPoll(late), textPoll(['e 1', ...ten.slice(2, 8)]))).toBe(true);
    expect(hasAll(textPoll(['cut', ...late.slice(4)]), textPoll(['e 2', ...ten.slice(3, 8)]))).toBe(true);
    expect(hasAll(textPoll(late), textPoll(['e 1', ...ten.slice(2, 8), 'line 99']))).toBe(false);
    expect(hasAll(textPoll(late), textPoll(['e 5', 'late', 'line 99']))).toBe(false);
    expect(hasAll(textPoll(late), textPoll(['e 3', ...ten.slice(4, 8)]))).toBe(false);
    // Of a log of two words, anything stands in order in what is longer.
    const words = (text: string) => text.split('');
    expect(hasAll(textPoll(words('abaabbabab')), textPoll(words('xaabaabb')))).toBe(false);
    expect(hasAll(textPoll(words('xabab')), textPoll(words('xacac')))).toBe(false);
  });

  test('one ends within another that has more', () => {
    expect(endsIn(textPoll(ten.slice(0, 8)), textPoll(ten))).toBe(true);
    expect(endsIn(textPoll(ten), textPoll(ten.slice(0, 8)))).toBe(false);
    expect(endsIn(textPoll(ten), textPoll(ten))).toBe(false);
    expect(endsIn(textPoll(ten.slice(0, 8)), textPoll(ten, { texts: [['debug', { lines: ten }]] }))).toBe(
      false,
    );
  });

  test('of several levels, all of them', () => {
    const both = (info: readonly string[], warn: readonly string[]) =>
      textPoll([], {
        texts: [
          ['info', { lines: info }],
          ['warn', { lines: warn }],
        ],
      });
    expect(hasAll(both(ten, ten), both(['cut', 'line 3'], ['cut', 'line 5']))).toBe(true);
    expect(hasAll(both(ten, ten), both(['cut', 'line 3'], ['cut', 'other']))).toBe(false);
    expect(endsIn(both(ten.slice(0, 8), ten.slice(0, 7)), both(ten, ten))).toBe(true);
    expect(endsIn(both(ten.slice(0, 8), ten), both(ten, ten))).toBe(false);
    expect(reachesAbove(both(ten.slice(0, 8), ten.slice(2, 8)), both(ten.slice(2), ten))).toBe(true);
    expect(reachesAbove(both(ten.slice(3, 8), ten.slice(3, 8)), both(ten, ten))).toBe(false);
    expect(reachesAbove(both(ten.slice(0, 8), ten), textPoll(ten))).toBe(false);
  });

  test('one tells that the first line of another is whole, where it has lines above that', () => {
    const whole = (lines: readonly string[], ...others: TextPoll[]) =>
      withWholeTop(textPoll(lines), others).texts[0]?.[1].isTopWhole ?? false;
    expect(whole(ten.slice(3), textPoll(ten))).toBe(true);
    expect(whole(ten.slice(3), textPoll(['x']), textPoll(ten))).toBe(true);
    expect(whole(ten.slice(3), textPoll(ten.slice(3)))).toBe(false);
    expect(whole(['line 3', 'line 5'], textPoll(ten))).toBe(false);
    expect(whole(['3', 'line 4'], textPoll(ten))).toBe(false);
    const top = textPoll([], { texts: [['', { lines: ten.slice(3), isTopWhole: true }]] });
    expect(whole(ten.slice(3), top)).toBe(true);
    expect(whole(ten.slice(3), textPoll([], { texts: [['debug', { lines: ten }]] }))).toBe(false);
  });
});

describe('a poll that comes later than it was planned', () => {
  const pace = pacedBy(stateOf({ takenAt: NOW - 1_000 }), [taken(1_000)], POLL, false).pace;
  const state = stateOf({ takenAt: NOW, pace });
  const planned = pollAfter(state, NOW, 1_000);

  test('asks for what came since, too; in time, for what was planned', () => {
    expect(tailNow(state, planned, NOW + 1_000)).toBe(planned.tail);
    expect(tailNow(state, planned, NOW + 4_000)).toBe(pollAfter(state, NOW, 4_000).tail);
    expect(tailNow(state, planned, NOW + 4_000)).toBeGreaterThan(planned.tail + 3_000);
  });

  test('asks for no more than was planned after one that failed, for more than could be told, or of a new process', () => {
    for (const over of [{ failures: 1 }, { widened: { tail: 500, isNeeded: true } }, { takenAt: undefined }])
      expect(tailNow({ ...state, ...over } as GroupState, planned, NOW + 4_000)).toBe(planned.tail);
  });

  test('asks for no more than is known to come through, if not for less than was planned', () => {
    const sizeLimit = { fits: 200_000, fails: 400_000, failedAt: NOW, waitMs: 2_000 };
    const limited = { ...state, progress: { ...state.progress, bytesPerLine: 100, sizeLimit } };
    expect(tailNow(limited, { ...planned, tail: 300 }, NOW + 60_000)).toBe(2_000);
    expect(tailNow(limited, { ...planned, tail: 3_000 }, NOW + 60_000)).toBe(3_000);
    expect(tailNow(state, { ...planned, tail: 9_000 }, NOW + 1_000)).toBe(9_000);
  });

  test('asks for all there is where the clock was set back', () => {
    expect(tailNow(state, planned, NOW - 1)).toBe(10_000);
  });
});
