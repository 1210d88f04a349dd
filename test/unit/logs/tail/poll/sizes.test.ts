/** How many lines are asked for, as far as the size of answers bounds it, and after polls that fail as too large ones do. */
import { describe, expect, test } from 'vitest';
import { beginGroup } from '../../../../../src/logs/tail/group.ts';
import {
  answered,
  expectedLength,
  fittingTail,
  recoveringTail,
  widerTail,
  widestTail,
} from '../../../../../src/logs/tail/poll/answer-size.ts';
import type { GroupState, TextPoll } from '../../../../../src/logs/tail/poll/group-state.ts';
import { afterTooLarge } from '../../../../../src/logs/tail/poll/too-large.ts';
import type { SizeLimit } from '../../../../../src/logs/tail/size-limit.ts';

const NOW = 10_000_000;
/** Of lines of 100 characters 400 come through, and 1,000 do not. */
const LIMIT: SizeLimit = { fits: 40_000, fails: 100_000, failedAt: NOW, waitMs: 2_000 };

function stateOf(over: Partial<GroupState> = {}, progress: Partial<GroupState['progress']> = {}): GroupState {
  const begun = beginGroup({ workergroupId: 7, start: 'all' });
  return { ...begun, begun: true, ...over, progress: { ...begun.progress, bytesPerLine: 100, ...progress } };
}

const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index}`);
const poll = (tail: number, count: number, unended?: string): TextPoll => ({
  tail,
  now: NOW,
  roundTripMs: 10,
  texts: [['', { lines: lines(count), ...(unended !== undefined && { unended }) }]],
});

describe('the most to ask for', () => {
  test('is what fits, and what did not once that is due', () => {
    const state = stateOf({}, { sizeLimit: LIMIT });
    expect(fittingTail(state.progress)).toBe(400);
    expect(widestTail(state, NOW + 1_999)).toBe(400);
    expect(widestTail(state, NOW + 2_000)).toBe(1_000);
    expect(widestTail({ ...state, failures: 1 }, NOW + 2_000)).toBe(400);
    expect(widestTail(stateOf(), NOW)).toBe(10_000);
  });

  test('goes by lines of a hundred characters before one was seen', () => {
    const state = stateOf({}, { sizeLimit: LIMIT, bytesPerLine: undefined });
    expect([fittingTail(state.progress), widestTail(state, NOW), widerTail(state, NOW)]).toEqual([
      400, 400, 1_000,
    ]);
    expect(expectedLength(state, 30)).toBe(3_000);
    expect(expectedLength(stateOf({}, { bytesPerLine: 7 }), 30)).toBe(210);
  });

  test('for a tail that tells too little is what failed, while that is but supposed or due before a loss', () => {
    const sure = { ...LIMIT, waitMs: 1_800_000 };
    expect(widerTail(stateOf({}, { sizeLimit: LIMIT }), NOW)).toBe(1_000);
    const state = stateOf({}, { sizeLimit: sure });
    expect(widerTail(state, NOW + 119_999)).toBe(400);
    expect(widerTail(state, NOW + 120_000)).toBe(1_000);
    expect(widerTail({ ...state, failures: 1 }, NOW + 120_000)).toBe(400);
    expect(widerTail({ ...state, suspectedTail: 300 }, NOW)).toBe(300);
  });

  test('after a question for less is what was wanted, as far as it was not suspected', () => {
    const widened = { tail: 800, isNeeded: true };
    const state = stateOf({ widened, answeredTail: 100 });
    expect(recoveringTail(state, poll(100, 100))).toBe(800);
    expect(recoveringTail({ ...state, suspectedTail: 600 }, poll(100, 100))).toBe(600);
    expect(recoveringTail({ ...state, suspectedTail: 60 }, poll(100, 100))).toBe(100);
    expect(recoveringTail({ ...state, answeredTail: Infinity }, poll(100, 20))).toBe(100);
    expect(recoveringTail(stateOf({ answeredTail: 100 }), poll(100, 100))).toBe(100);
    const bounded = stateOf({ widened, answeredTail: 100 }, { sizeLimit: LIMIT });
    expect(recoveringTail(bounded, poll(100, 100))).toBe(400);
  });
});

describe('an answer that came through', () => {
  const after = (state: GroupState, { tail, texts, ...rest }: TextPoll, body: string) =>
    answered(state, { tail, texts, ...rest }, [['', body]]);

  test('tells how long lines are, also one without an end', () => {
    const whole = after(stateOf(), poll(100, 20), 'x'.repeat(1_000));
    expect(whole.progress.bytesPerLine).toBe(50);
    expect(after(stateOf(), poll(100, 20, 'half'), 'x'.repeat(1_050)).progress.bytesPerLine).toBe(50);
    expect(after(stateOf(), poll(100, 0), '').progress.bytesPerLine).toBe(100);
  });

  test('of all that was asked for is of that length, and of less the whole log', () => {
    expect(after(stateOf(), poll(20, 20), 'x').answeredTail).toBe(20);
    expect(after(stateOf(), poll(100, 20), 'x').answeredTail).toBe(Infinity);
  });

  test('leaves what failed suspected while it was longer', () => {
    expect(after(stateOf({ suspectedTail: 50 }), poll(20, 20), 'x').suspectedTail).toBe(50);
    expect(after(stateOf({ suspectedTail: 20 }), poll(20, 20), 'x')).not.toHaveProperty('suspectedTail');
    expect(after(stateOf({ suspectedTail: 50 }), poll(100, 20), 'x')).not.toHaveProperty('suspectedTail');
  });

  test('makes a limit of what was supposed before, and nothing of what was suspected', () => {
    const state = stateOf({ suspectedTail: 50, supposedLimit: LIMIT });
    const next = after(state, poll(20, 20), 'x'.repeat(500));
    expect(next.progress.sizeLimit).toEqual(LIMIT);
    expect(next).not.toHaveProperty('suspectedTail');
    expect(next).not.toHaveProperty('supposedLimit');
  });

  test('that is larger than what fitted lifts the limit, and of the longest tail ends it', () => {
    const state = stateOf({}, { sizeLimit: LIMIT });
    expect(after(state, poll(500, 500), 'x'.repeat(50_000)).progress.sizeLimit?.fits).toBe(50_000);
    expect(after(state, poll(10_000, 10_000), 'x'.repeat(50_000)).progress).not.toHaveProperty('sizeLimit');
    // Of a shorter log only its size says something.
    expect(after(state, poll(10_000, 20), 'x'.repeat(2_000)).progress.sizeLimit).toEqual(LIMIT);
  });
});

describe('a poll that failed as one for too much does', () => {
  test('is followed at once by one for half, or for what came through before', () => {
    expect(afterTooLarge(stateOf(), { tail: 1_000, now: NOW }, 'perhaps')).toEqual({
      state: {
        ...stateOf(),
        suspectedTail: 1_000,
        supposedLimit: undefined,
        widened: { tail: 1_000, isNeeded: false },
      },
      tail: 500,
      isSoon: true,
    });
    const known = stateOf({ answeredTail: 700 });
    expect(afterTooLarge(known, { tail: 1_000, now: NOW }, 'perhaps').tail).toBe(700);
    expect(afterTooLarge(stateOf(), { tail: 5, now: NOW }, 'perhaps')).toMatchObject({
      tail: 3,
      isSoon: true,
    });
    expect(afterTooLarge(stateOf(), { tail: 3, now: NOW }, 'perhaps')).toMatchObject({
      tail: 3,
      isSoon: false,
    });
  });

  test('of a length that came through before is an outage, until it was three times', () => {
    const at = (failures: number) =>
      afterTooLarge(stateOf({ answeredTail: 1_000, failures }), { tail: 1_000, now: NOW }, 'perhaps');
    expect([at(0).tail, at(0).isSoon, at(1).tail]).toEqual([undefined, false, undefined]);
    expect([at(2).tail, at(2).isSoon]).toEqual([500, false]);
    expect(at(0).state.suspectedTail).toBe(1_000);
  });

  test('keeps what was wanted at first, and the shortest that failed', () => {
    const widened = { tail: 4_000, isNeeded: true };
    const sure = { ...LIMIT, waitMs: 64_000 };
    const state = stateOf({ widened, suspectedTail: 800 }, { sizeLimit: sure });
    const { state: next } = afterTooLarge(state, { tail: 1_000, now: NOW }, 'perhaps');
    expect([next.widened, next.suspectedTail]).toEqual([widened, 800]);
    expect(afterTooLarge(state, { tail: 500, now: NOW }, 'perhaps').state.suspectedTail).toBe(500);
  });

  test('is asked for once more where lines hang on it, and the size is but supposed', () => {
    const widened = { tail: 1_000, isNeeded: true };
    const asked = { tail: 1_000, now: NOW };
    expect(afterTooLarge(stateOf({ widened }), asked, 'perhaps')).toMatchObject({
      tail: 1_000,
      isSoon: true,
    });
    expect(afterTooLarge(stateOf({ widened, failures: 1 }), asked, 'perhaps').tail).toBe(500);
    expect(afterTooLarge(stateOf({ widened }), asked, 'surely').tail).toBe(500);
    const sure = stateOf({ widened }, { sizeLimit: { ...LIMIT, waitMs: 8_000 } });
    expect(afterTooLarge(sure, asked, 'perhaps').tail).toBe(500);
    expect(afterTooLarge(stateOf({ widened: { ...widened, isNeeded: false } }), asked, 'perhaps').tail).toBe(
      500,
    );
  });

  test('for sure is a limit at once, of half, or of what came just before', () => {
    const { state, tail, isSoon } = afterTooLarge(
      stateOf({ answeredTail: 1_000, suspectedTail: 900, supposedLimit: LIMIT }),
      { tail: 1_000, now: NOW },
      'surely',
    );
    const sizeLimit = { fits: 50_000, fails: 100_000, failedAt: NOW, waitMs: 2_000, isSure: true };
    expect(state.progress.sizeLimit).toEqual(sizeLimit);
    expect(state).not.toHaveProperty('suspectedTail');
    expect(state).not.toHaveProperty('supposedLimit');
    expect([tail, isSoon]).toEqual([500, true]);
    const before = afterTooLarge(stateOf({ answeredTail: 800 }), { tail: 1_000, now: NOW }, 'surely');
    expect(before.state.progress.sizeLimit?.fits).toBe(80_000);
  });

  test('right after an answer, and of a size that failed before, supposes a limit', () => {
    const supposed = (over: Partial<GroupState>, tail = 1_000, sizeLimit?: SizeLimit) =>
      afterTooLarge(stateOf({ answeredTail: 100, ...over }, { sizeLimit }), { tail, now: NOW }, 'perhaps')
        .state.supposedLimit;
    const found = { fits: 50_000, fails: 100_000, failedAt: NOW, waitMs: 2_000 };
    expect(supposed({ suspectedTail: 1_000 })).toEqual(found);
    expect(supposed({ suspectedTail: 1_001 })).toBeUndefined();
    expect(supposed({ suspectedTail: 1_000, failures: 1 })).toBeUndefined();
    expect(supposed({}, 401, LIMIT)?.fails).toBe(40_100);
    expect(supposed({}, 400, LIMIT)).toBeUndefined();
    // What was supposed stays so while less than that fails, and not where what came through fails too.
    expect(supposed({ supposedLimit: LIMIT, failures: 1 })).toEqual(LIMIT);
    expect(supposed({ supposedLimit: LIMIT, failures: 1 }, 100)).toBeUndefined();
  });
});
