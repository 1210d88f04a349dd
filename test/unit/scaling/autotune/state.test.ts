/** What others are told of steering's state: since when parameters are what they are, what is wanted, the journal. */
import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../../src/scaling/autotune/minutes.ts';
import {
  LONG_PAUSE_MS,
  NEVER_STEERED,
  notAhead,
  parametersSinceMs,
  pauseAfter,
  setIn,
  wantedBySteering,
  type Pause,
  type SteeringState,
} from '../../../../src/scaling/autotune/state.ts';
import { changeOf, NOON, PARAMETERS } from '../../../support/steering.ts';

const over = { phase: 'over', endedMs: NOON + 50 } as const;

describe('the parameters are what they are', () => {
  test.each<[string, Partial<SteeringState>, number | undefined]>([
    ['nobody knows since when', {}, undefined],
    ['since a change was set', { change: changeOf({ setMs: NOON }) }, NOON],
    [
      'since never, where it is only sent',
      { change: changeOf({ phase: 'sending', setMs: undefined }) },
      undefined,
    ],
    [
      'since it was set, where it was kept',
      { change: changeOf({ ...over, outcome: 'kept', setMs: NOON }) },
      NOON,
    ],
    [
      'since the old values were back',
      { change: changeOf({ ...over, outcome: 'rolled_back', setMs: NOON }) },
      NOON + 50,
    ],
    ['since a person’s hand', { pause: { untilMs: NOON + LONG_PAUSE_MS, for: 'a hand' } }, NOON],
    [
      'since the later of the two',
      { change: changeOf({ setMs: NOON - 9 }), pause: { untilMs: NOON + LONG_PAUSE_MS, for: 'a hand' } },
      NOON,
    ],
    ['whatever is waited for besides', { pause: { untilMs: NOON, for: 'rolled back' } }, undefined],
  ])('%s', (_, state, sinceMs) => {
    expect(parametersSinceMs({ ...NEVER_STEERED, ...state })).toBe(sinceMs);
  });
});

describe('what steering wants the service to have', () => {
  const baseline = { ...PARAMETERS, cold_workers: 7 };
  test.each([
    ['is what it sets', { phase: 'sending' }, { cold_workers: 4 }],
    ['is what it has set', { phase: 'watching' }, { cold_workers: 4 }],
    ['is what was before, on the way back', { phase: 'returning' }, { cold_workers: 5 }],
    ['is what was read last, in the end', { phase: 'over' }, { cold_workers: 7 }],
  ] as const)('%s', (_, change, wanted) => {
    expect(wantedBySteering({ ...NEVER_STEERED, baseline, change: changeOf(change) })).toEqual(wanted);
  });

  test('is nothing that it does not know, or never moved', () => {
    expect(wantedBySteering({ ...NEVER_STEERED, baseline })).toEqual({});
    expect(wantedBySteering({ ...NEVER_STEERED, change: changeOf() })).toEqual({});
    const change = changeOf({ phase: 'over', to: { cold_workers: 4, min_load: 3 } });
    expect(wantedBySteering({ ...NEVER_STEERED, baseline: { cold_workers: 7 }, change })).toEqual({
      cold_workers: 7,
    });
  });
});

test('a journal has each change once, as it is now, the latest last', () => {
  const [first, second] = [changeOf({ id: 1 }), changeOf({ id: 2 })];
  expect(setIn([], first)).toEqual([first]);
  expect(setIn([first], second)).toEqual([first, second]);
  const ended = changeOf({ ...over, id: 2 });
  expect(setIn([first, second], ended)).toEqual([first, ended]);
});

test('each rollback in a row doubles the pause, up to eight days', () => {
  expect([1, 2, 3, 4, 5, 50].map((count) => pauseAfter(count) / LONG_PAUSE_MS)).toEqual([1, 2, 4, 8, 8, 8]);
});

describe('a clock that was set back', () => {
  const stateOf = (pause: Pause | undefined, change = changeOf({ atMs: NOON, setMs: NOON + 5 })) => ({
    ...NEVER_STEERED,
    pause,
    change,
  });

  test.each<[Pause['for'], number, number]>([
    ['change', 25, 24],
    ['a hand', 30, 24],
    ['rolled back', 9 * 24, 8 * 24],
    ['change', 24, 24],
    ['rolled back', 8 * 24, 8 * 24],
    ['rolled back', 7 * 24, 7 * 24],
  ])('leaves a pause for %s of %d hours one of %d', (reason, hours, left) => {
    const pause = { untilMs: NOON + hours * HOUR_MS, for: reason };
    expect(notAhead(stateOf(pause), NOON + 5).pause).toEqual({
      ...pause,
      untilMs: NOON + 5 + left * HOUR_MS - (hours === left ? 5 : 0),
    });
  });

  test('lets a change that is being sent count from now on, and leaves all others alone', () => {
    const changes = (change: Parameters<typeof changeOf>[0], nowMs: number) => {
      const { atMs, setMs } = notAhead(stateOf(undefined, changeOf(change)), nowMs).change ?? {};
      return [atMs, setMs];
    };
    const sending = { phase: 'sending', atMs: NOON, setMs: NOON + 5 } as const;
    expect(changes(sending, NOON + 3)).toEqual([NOON, NOON + 3]);
    expect(changes(sending, NOON - 3)).toEqual([NOON - 3, NOON - 3]);
    expect(changes({ ...sending, phase: 'watching' }, NOON - 3)).toEqual([NOON, NOON + 5]);
    expect(changes({ atMs: NOON, setMs: undefined, phase: 'sending' }, NOON - 3)).toEqual([
      NOON - 3,
      undefined,
    ]);
    expect(changes({ ...over, atMs: NOON, setMs: NOON + 5 }, NOON - 3)).toEqual([NOON, NOON + 5]);
    const state = stateOf({ untilMs: NOON, for: 'change' });
    expect(notAhead(state, NOON + 5)).toBe(state);
  });
});
