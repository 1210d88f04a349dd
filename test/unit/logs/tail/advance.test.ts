/** One poll: what becomes of the state, what is to be stored, and when to ask next. */
import { describe, expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/tail/answer.ts';
import {
  advance,
  beginGroup,
  firstPoll,
  type GroupState,
  type PollResult,
} from '../../../../src/logs/tail/group.ts';
import { pastAfter, readTexts } from '../../../../src/logs/tail/poll/reading.ts';
import { EMPTY_STREAM, type Taken } from '../../../../src/logs/tail/stream.ts';
import { windowOf } from '../../../support/log-records.ts';

const NOW = 1_700_000_000_000;
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
const textOf = (lines: readonly string[], unended = ''): TailAnswer => ({
  kind: 'text',
  text: lines.map((line) => `${line}\n`).join('') + unended,
});
const result = (answer: TailAnswer, over: Partial<PollResult> = {}): PollResult => ({
  answer,
  tail: 10_000,
  now: NOW,
  roundTripMs: 20,
  random: 1,
  ...over,
});
const fresh = () => beginGroup({ workergroupId: 7, start: 'all' });
/** Nine lines were taken a second ago. */
function known(unended = '', over: Partial<GroupState> = {}): GroupState {
  const first = advance(fresh(), result(textOf(numbered(1, 9), unended), { now: NOW - 1_000 }));
  return { ...first.state, ...over };
}

describe('a group that was never followed', () => {
  test('begins with the widest tail, at once', () => {
    const state = fresh();
    expect(state).toMatchObject({ begun: false, forgotten: false, failures: 0 });
    expect(state.progress).toEqual({
      epoch: 1,
      seq: 0,
      time: 0,
      ceiling: 10_000,
      linesPerSecond: 0,
      streams: {},
    });
    expect(firstPoll(state)).toEqual({ tail: 10_000, delayMs: 0 });
  });

  test('whose past is lost tells of that first', () => {
    const state = beginGroup({ workergroupId: 7, start: 'all', epochAfterLoss: 5 });
    expect(state).toMatchObject({ forgotten: true, begun: false, progress: { epoch: 5 } });
    const { records, state: next } = advance(state, result(textOf(['one'])));
    expect(records.map((record) => ('gap' in record ? record.gap.reason : record.line))).toEqual([
      'reset',
      'one',
    ]);
    expect(next.forgotten).toBe(false);
  });
});

describe('a group that was followed', () => {
  const { progress } = known('begun');

  test('goes on from what was stored', () => {
    const state = beginGroup({ workergroupId: 7, start: 'all', progress, epochAfterLoss: 5 });
    expect(state).toMatchObject({ begun: true, forgotten: false, progress: { epoch: 1, seq: 9 } });
    expect(state.progress.streams).toEqual(progress.streams);
    expect(state).not.toHaveProperty('past');
  });

  test('knows what was delivered beside the window', () => {
    const passed = { '': [{ at: NOW, hashes: [1, 2] }] };
    const state = beginGroup({ workergroupId: 7, start: 'all', progress: { ...progress, passed } });
    expect(state.past?.['']).toMatchObject([{ at: NOW, isPassed: true }]);
    const next = advance(state, result(textOf([...numbered(1, 9), 'begun', 'new'])));
    expect(next.state.progress.passed).toEqual(passed);
    const later = advance(state, result(textOf([...numbered(1, 9), 'begun', 'new']), { now: NOW + 60_001 }));
    expect(later.state.progress.passed).toBeUndefined();
  });
});

describe('an answer without a word', () => {
  test('begins the log, which is to be stored, and is asked for less and less often', () => {
    const first = advance({ ...fresh(), failures: 3 }, result({ kind: 'text', text: '' }));
    expect(first).toMatchObject({ records: [], moved: true, next: { delayMs: 1_500, tail: 10_000 } });
    expect(first.state).toMatchObject({ begun: true, failures: 0, pace: { intervalMs: 1_500 } });
    const second = advance(first.state, result({ kind: 'text', text: '' }));
    expect(second).toMatchObject({ moved: false, next: { delayMs: 2_250 } });
  });

  test('is one of line ends alone, where the log had words', () => {
    expect(advance(known(), result({ kind: 'text', text: ' \n\n' })).state.pace.intervalMs).toBe(1_500);
    expect(advance(known(), result({ kind: 'text', text: ' \n\n' })).records).toEqual([]);
    const blank = advance(fresh(), result({ kind: 'text', text: '\n' }));
    expect(blank.records).toMatchObject([{ line: '' }]);
    const more = advance(blank.state, result({ kind: 'text', text: '\n\n' }, { now: NOW + 1_000 }));
    expect(more.records).toMatchObject([{ line: '' }]);
  });

  test('of one level says nothing of another', () => {
    const { records } = advance(fresh(), result({ kind: 'levels', levels: { info: '', warn: 'careful\n' } }));
    expect(records).toMatchObject([{ line: 'careful', level: 'warn' }]);
  });
});

describe('an error', () => {
  const failed = (over: Partial<TailAnswer & { kind: 'error' }> = {}, state = known()) =>
    advance(state, result({ kind: 'error', reason: 'down', ...over }, { tail: 200 }));

  test('moves nothing but the next poll, which asks for as much more', () => {
    const state = known();
    const step = failed({}, state);
    expect(step).toMatchObject({ records: [], moved: false });
    expect(step.state).toEqual({ ...state, failures: 1, supposedLimit: undefined });
    expect(failed({}, { ...state, failures: 2 }).next.delayMs).toBe(4 * step.next.delayMs);
  });

  test('is waited for as long as was asked for, up to two minutes', () => {
    const usual = failed().next.delayMs;
    expect(failed({ retryAfterMs: usual - 1 }).next.delayMs).toBe(usual);
    expect(failed({ retryAfterMs: 30_000 }).next.delayMs).toBe(30_000);
    expect(failed({ retryAfterMs: 120_001 }).next.delayMs).toBe(120_000);
  });

  test('is followed by a poll for what was wanted before', () => {
    expect(failed({}, known('', { widened: { tail: 777, isNeeded: true } })).next.tail).toBe(777);
    expect(failed().next.tail).toBe(200);
  });

  test('of an answer that is too large is followed by one for less, soon', () => {
    const step = failed({ tooLarge: 'surely' }, known('', { answeredTail: 50 }));
    expect(step.next).toEqual({ tail: 100, delayMs: 1_000 });
    expect(step.state.progress.sizeLimit?.isSure).toBe(true);
    expect(step.state.failures).toBe(1);
  });
});

describe('what is to be stored beside records', () => {
  const moved = (state: GroupState, lines: readonly string[], unended = '') =>
    advance(state, result(textOf(lines, unended))).moved;

  test('is a last line that begins to be written, or has ended, not one that grows', () => {
    const lines = numbered(1, 9);
    expect(moved(known(), lines)).toBe(false);
    expect(moved(known(), lines, 'begun')).toBe(true);
    expect(moved(known('begun'), lines, 'begun, and more')).toBe(false);
  });

  test('is a rate that fell by more than half', () => {
    const rate = (linesPerSecond: number) => {
      const state = known();
      return { ...state, progress: { ...state.progress, linesPerSecond } };
    };
    expect(moved(rate(5), numbered(1, 9))).toBe(true);
    expect(moved(rate(0.001), numbered(1, 9))).toBe(false);
    expect(moved(rate(0), numbered(1, 9))).toBe(false);
  });

  test('is that nothing is kept any more', () => {
    const state = known();
    const unsettled = [
      { tail: 200, now: NOW - 500, roundTripMs: 20, texts: [['', { lines: numbered(2, 9) }]] as const },
    ];
    const step = advance(
      { ...state, progress: { ...state.progress, unsettled } },
      result(textOf(numbered(1, 9))),
    );
    expect(step).toMatchObject({ moved: true, records: [] });
    expect(step.state.progress.unsettled).toBeUndefined();
  });
});

describe('an answer that tells too little', () => {
  const asked = (tail: number) =>
    advance(known(), result(textOf(['cut', ...numbered(101, 98 + tail), 'last']), { tail }));

  test('is kept while more is asked for at once, and that is to be stored', () => {
    const step = asked(20);
    expect(step).toMatchObject({ records: [], moved: true, next: { tail: 10_000, delayMs: 0 } });
    expect(step.state.progress.unsettled).toMatchObject([{ tail: 20, now: NOW }]);
    expect(step.state.widened).toEqual({ tail: 10_000, isNeeded: true });
  });

  test('of fewer than twenty lines is not', () => {
    const step = asked(19);
    expect(step).toMatchObject({ records: [], moved: false, next: { tail: 10_000, delayMs: 0 } });
    expect(step.state.progress.unsettled).toBeUndefined();
  });

  test('nor of a log of which nothing was taken', () => {
    const step = advance(fresh(), result(textOf(numbered(1, 20)), { tail: 20 }));
    expect(step).toMatchObject({ moved: false, next: { tail: 10_000, delayMs: 0 } });
  });
});

describe('the next poll', () => {
  const far = (from: number) => textOf(numbered(from, from + 9_999));

  test('comes soon after the widest tail, where all in it was new', () => {
    const first = advance(fresh(), result(far(1)));
    expect(first.next.delayMs).toBe(100);
    const again = advance(first.state, result(far(50_001), { now: NOW + 100 }));
    expect(again.records[0]).toMatchObject({ gap: { reason: 'overrun' } });
    expect(again.next.delayMs).toBe(100);
    const on = advance(again.state, result(far(50_101), { now: NOW + 200 }));
    expect(on.next.delayMs).toBe(1_000);
  });

  test('not after all of a shorter log', () => {
    expect(advance(fresh(), result(textOf(numbered(1, 9)))).next.delayMs).toBe(1_000);
  });

  test('comes after a second where an older view was seen, and that is told', () => {
    const step = advance(
      known('', { pace: { ...known().pace, intervalMs: 9_000 } }),
      result(textOf(numbered(1, 7))),
    );
    expect(step).toMatchObject({ stale: true, moved: false, records: [], next: { delayMs: 1_000 } });
    expect(step.state.progress.streams['']?.held).toMatchObject({ answers: 1 });
    expect(step.state.takenAt).toBe(NOW - 1_000);
    expect(advance(known(), result(textOf(numbered(1, 9)))).stale).toBe(false);
  });

  test('tells when lines were last taken, and when they last came', () => {
    const none = advance(known(), result(textOf(numbered(1, 9))));
    expect([none.state.takenAt, none.state.broughtAt]).toEqual([NOW, NOW - 1_000]);
    const some = advance(known(), result(textOf(numbered(1, 10))));
    expect([some.state.takenAt, some.state.broughtAt]).toEqual([NOW, NOW]);
  });
});

describe('levels', () => {
  const levels = (info: readonly string[], warn: readonly string[]): TailAnswer => ({
    kind: 'levels',
    levels: {
      info: info.map((line) => `${line}\n`).join(''),
      warn: warn.map((line) => `${line}\n`).join(''),
    },
  });

  test('that are held stay as they were, beside others that are taken', () => {
    const first = advance(fresh(), result(levels(numbered(1, 9), ['a']), { now: NOW - 1_000 }));
    const step = advance(first.state, result(levels(numbered(1, 7), ['a', 'b'])));
    expect(step).toMatchObject({ stale: true, moved: true });
    expect(step.records).toMatchObject([{ line: 'b', level: 'warn' }]);
    const { info, warn } = step.state.progress.streams;
    expect([info?.held?.answers, info?.window.hashes.length, warn?.window.hashes.length]).toEqual([1, 9, 2]);
    // A newer view is waited for.
    expect(step.next.delayMs).toBe(1_000);
  });

  test('of which one brought lines tell when some last came', () => {
    const first = advance(fresh(), result(levels(numbered(1, 9), ['a']), { now: NOW - 1_000 }));
    const { state } = advance(first.state, result(levels(numbered(1, 9), ['a', 'b'])));
    expect(state.broughtAt).toBe(NOW);
  });

  test('share what the rate lets expect', () => {
    const streams = { info: { ...EMPTY_STREAM, window: windowOf(numbered(1, 9)) }, warn: EMPTY_STREAM };
    const state: GroupState = { ...known(), progress: { ...known().progress, streams, linesPerSecond: 40 } };
    const texts = [
      ['info', { lines: numbered(21, 29) }],
      ['warn', { lines: [] }],
    ] as const;
    const found = readTexts(state, { tail: 200, now: NOW, roundTripMs: 20, texts });
    expect(found.kind === 'read' && found.taken[0]?.[1].gap).toMatchObject({
      reason: 'reset',
      lost_estimate: 20,
    });
  });
});

test.each([
  [60_000, false],
  [60_001, true],
])('a line that was there for %i ms does not go missing: %s', (sinceMs, isSettled) => {
  const stream = { ...EMPTY_STREAM, whole: false, window: windowOf(numbered(1, 12)) };
  const begun = known('', { takenAt: NOW - sinceMs });
  const state: GroupState = { ...begun, progress: { ...begun.progress, streams: { '': stream } } };
  const lines = ['cut', ...numbered(4, 12).toSpliced(2, 1), 'next'];
  const found = readTexts(state, { tail: 11, now: NOW, roundTripMs: 20, texts: [['', { lines }]] }, 11);
  if (found.kind !== 'read') throw new Error('it asks for more');
  const reasons = found.taken.map(([, { gap }]) => gap?.reason);
  expect(reasons).toEqual([isSettled ? 'overrun' : undefined]);
});

describe('what slid out of the windows', () => {
  const taken = (from: number, over: Partial<Taken> = {}): Taken => ({
    kind: 'taken',
    stream: { ...EMPTY_STREAM, window: windowOf(numbered(from, 9), from - 1) },
    lines: [],
    ...over,
  });
  const state = { ...known(), past: { warn: [] } };
  const lengths = (over: Partial<Taken>, from = 3) =>
    pastAfter(state, [['', taken(from, over)]], NOW)['']?.map(({ hashes }) => hashes.length);

  test('is remembered by level', () => {
    expect(lengths({})).toEqual([2]);
    expect(pastAfter(state, [['', taken(3)]], NOW)).toHaveProperty('warn', []);
    expect(pastAfter(state, [['info', taken(3)]], NOW)['info']).toEqual([]);
  });

  test('is nothing of a log that began anew, and what passed where it stands beside the window', () => {
    expect(lengths({ gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 } })).toEqual([]);
    expect(lengths({ gap: { reason: 'overrun', lost_min: 0, lost_estimate: 0 } })).toEqual([2]);
    expect(lengths({ passed: Float64Array.of(1, 2, 3, 4) })).toEqual([4]);
  });
});
