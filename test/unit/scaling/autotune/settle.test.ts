/** What a look says of a change that is under way, where the service tells less than all, or somebody else acts too. */
import { describe, expect, test } from 'vitest';
import { decide, type Decision, type Seen } from '../../../../src/scaling/autotune/decide.ts';
import { HOUR_MS, type Minute } from '../../../../src/scaling/autotune/minutes.ts';
import {
  NEVER_STEERED,
  type Change,
  type Numbers,
  type SteeringState,
} from '../../../../src/scaling/autotune/state.ts';
import { changeOf, MINUTE_MS, minutesOf, NOON, PARAMETERS, seenOf } from '../../../support/steering.ts';

const FROM = { cold_workers: 5 };
const TO = { cold_workers: 4 };
const CHANGED: Numbers = { ...PARAMETERS, ...TO };
const HARM: Partial<Minute> = { load: 300 };

/** One cold worker fewer since noon, a fifth cheaper as predicted. */
function stateOf(given: Partial<Change> = {}, baseline: Numbers = CHANGED): SteeringState {
  return { ...NEVER_STEERED, baseline, change: changeOf({ atMs: NOON, setMs: NOON, ...given }) };
}

/** After so many hours, of which each minute was as given. */
function after(hours: number, since: Partial<Minute> = {}, given: Partial<Seen> = {}): Seen {
  const nowMs = NOON + hours * HOUR_MS;
  const minutes = [...minutesOf(NOON - 25 * HOUR_MS, NOON), ...minutesOf(NOON, nowMs, since)];
  return seenOf({ nowMs, parameters: CHANGED, advice: undefined, minutes, ...given });
}

function twice(state: SteeringState, seen: Seen): Decision {
  const { state: odd } = decide(state, seen);
  expect(odd.change).toBe(state.change);
  return decide(odd, seen);
}

describe('what is seen of a trial', () => {
  const nobody = { load: 0, capacity: 0, cost: 0, ready: 0 };

  test('no worker where there was load in every minute before: the old values go back', () => {
    const { state, send } = decide(stateOf(), after(0.2, nobody));
    expect(send).toEqual(FROM);
    expect(state.change?.because).toBe(
      'no worker took requests for 12 minutes, before there was no load for 0',
    );
    expect(decide(stateOf(), after(2 / 60, nobody)).send).toBeUndefined();
  });

  test('no worker where there was no load before either: that is what the group does', () => {
    const seen = after(1, nobody);
    const idle = seen.minutes.map((minute) => (minute.fromMs < NOON ? { ...minute, ...nobody } : minute));
    expect(decide(stateOf(), { ...seen, minutes: idle }).send).toBeUndefined();
  });

  test('a day that is quieter than any before says nothing of a saving', () => {
    const quiet = { load: 20, cost: 0.5 };
    expect(decide(stateOf(), after(6, quiet)).state.change?.phase).toBe('watching');
    expect(decide(stateOf(), after(24, quiet)).state.change).toMatchObject({
      phase: 'returning',
      because: 'too little was seen of what came of it',
    });
    expect(decide(stateOf(), after(6, { cost: 1.6 })).state.change?.outcome).toBe('kept');
  });

  test('a day that is quieter than any before, and costs more, is harm', () => {
    const { state } = decide(stateOf(), after(1, { load: 20, cost: 5 }));
    expect(state.change?.because).toBe('it cost 5.00 an hour, and 2.00 at such a load before');
  });

  test('of an endpoint that is stopped nothing can be told: the old values go back', () => {
    const { state, send } = decide(stateOf(), after(0.1, {}, { isActive: false }));
    expect(send).toEqual(FROM);
    expect(state.change?.because).toMatch(/^the endpoint was stopped/);
  });
});

describe('where the parameters cannot be read', () => {
  const unread = { parameters: undefined };

  test('harm is seen all the same, and the old values are sent until they are read', () => {
    const { state, send } = decide(stateOf(), after(0.2, HARM, unread));
    expect(send).toEqual(FROM);
    expect(state.change).toMatchObject({ phase: 'returning', came: { excessMinutes: 12 } });
    expect(decide(state, after(0.3, HARM, unread)).send).toEqual(FROM);
    const back = decide(state, after(0.3, HARM, { parameters: PARAMETERS }));
    expect(back).toMatchObject({ send: undefined, state: { change: { outcome: 'rolled_back' } } });
  });

  test('nor does it wait until a change is read to have arrived', () => {
    const sending = stateOf({ phase: 'sending' }, PARAMETERS);
    const { state, send } = decide(sending, after(0.2, HARM, unread));
    expect(send).toEqual(FROM);
    expect(state.change?.phase).toBe('returning');
    const quiet = decide(sending, after(0.2, {}, unread));
    expect(quiet).toMatchObject({ send: undefined, state: sending });
  });

  test('nothing else is concluded, and nothing is sent to another endpoint', () => {
    const kept = decide(stateOf(), after(6, { cost: 1.6 }, unread));
    expect(kept).toMatchObject({ send: undefined, holds: 'a change is on trial' });
    expect(kept.state).toEqual(stateOf());
    for (const phase of ['sending', 'watching', 'returning'] as const)
      expect(
        decide(stateOf({ phase }), after(0.2, HARM, { ...unread, endpointId: 32 })).send,
      ).toBeUndefined();
    const never = { ...NEVER_STEERED, baseline: PARAMETERS };
    expect(decide(never, seenOf(unread))).toMatchObject({
      state: never,
      holds: 'the parameters could not be read',
    });
  });
});

describe('where the service tells less, or more, than before', () => {
  const { ['max_workers']: _, ...less } = CHANGED;

  test('what only one list has is no difference, and what is new is kept to compare with', () => {
    const { state } = decide(stateOf({}, less), after(0.2));
    expect(state.change?.phase).toBe('watching');
    expect(state.baseline).toEqual(CHANGED);
    expect(decide(state, after(0.2, {}, { parameters: less })).state).toBe(state);
    const moved = { parameters: { ...CHANGED, max_workers: 3 } };
    expect(twice(state, after(0.2, {}, moved)).state.pause?.for).toBe('a hand');
  });

  test('a change that is not told just now is watched on', () => {
    const { cold_workers: __, ...untold } = CHANGED;
    expect(decide(stateOf(), after(0.2, {}, { parameters: untold })).state).toEqual(stateOf());
    expect(decide(stateOf(), after(0.2, HARM, { parameters: untold })).send).toEqual(FROM);
  });

  test('what is not told is not moved, and no advice is asked for it alone', () => {
    const { cold_workers: __, target_util: ___, min_load: ____, ...untold } = PARAMETERS;
    const read = { ...NEVER_STEERED, baseline: untold };
    const { holds, wantsAdvice } = decide(read, seenOf({ parameters: untold }));
    expect([holds, wantsAdvice]).toEqual([
      'the service does not tell target_util, cold_workers, min_load',
      false,
    ]);
    const { cold_workers: _____, ...most } = PARAMETERS;
    expect(decide({ ...read, baseline: most }, seenOf({ parameters: most }))).toMatchObject({
      send: undefined,
      holds: 'the advised set moves cold_workers, which the service does not tell',
    });
  });
});

describe('a hand beside a change', () => {
  const beside = { ...CHANGED, max_workers: 40 };

  test('is the new baseline, and the change is watched on', () => {
    const { state, send } = twice(stateOf(), after(0.1, {}, { parameters: beside }));
    expect(send).toBeUndefined();
    expect(state).toMatchObject({
      baseline: beside,
      pause: { for: 'a hand' },
      change: { phase: 'watching' },
    });
    expect(decide(state, after(0.2, {}, { parameters: beside })).state).toBe(state);
  });

  test('does not keep harm in force', () => {
    const { state, send } = twice(stateOf(), after(0.2, HARM, { parameters: beside }));
    expect(send).toEqual(FROM);
    const back = decide(state, after(0.3, {}, { parameters: { ...beside, ...FROM } }));
    expect(back.state).toMatchObject({
      baseline: { ...beside, ...FROM },
      change: { outcome: 'rolled_back' },
    });
  });

  test('while a change is being sent leaves open whether that arrives', () => {
    const sending = stateOf({ phase: 'sending', setMs: undefined }, PARAMETERS);
    const parameters = { ...PARAMETERS, max_workers: 40 };
    const { state } = twice(sending, after(0.01, {}, { parameters }));
    expect(state).toMatchObject({ baseline: parameters, change: { phase: 'sending' } });
    expect(decide(state, after(0.02, {}, { parameters: beside })).state.change?.phase).toBe('watching');
  });
});

describe('a change that was given up as lost', () => {
  const lost = (given: Partial<Change> = {}) =>
    stateOf(
      { phase: 'over', outcome: 'lost', because: 'x', endedMs: NOON, setMs: undefined, ...given },
      PARAMETERS,
    );

  test.each(['lost', 'refused'] as const)('and is read after all, having been %s, is on trial', (outcome) => {
    const { state, send } = decide(lost({ outcome }), after(0.1));
    expect(send).toBeUndefined();
    expect(state.change).toMatchObject({
      phase: 'watching',
      setMs: NOON,
      outcome: undefined,
      because: undefined,
    });
    expect(state.baseline).toEqual(CHANGED);
    expect(decide(lost({ outcome }), after(0.2, HARM)).send).toEqual(FROM);
  });

  test('but a person may set the same an hour later, or something beside it, or after one that came', () => {
    const isHand = (state: SteeringState, seen: Seen) => twice(state, seen).state.pause?.for === 'a hand';
    expect(isHand(lost(), after(1))).toBe(true);
    expect(isHand(lost(), after(0.1, {}, { parameters: { ...CHANGED, max_workers: 40 } }))).toBe(true);
    expect(isHand(lost(), after(0.1, {}, { parameters: { ...CHANGED, cold_workers: 3 } }))).toBe(true);
    expect(isHand(lost({ outcome: 'rolled_back' }), after(0.1))).toBe(true);
  });

  test('within the hour it is', () => {
    const seen = after(1 - MINUTE_MS / HOUR_MS);
    expect(decide(lost(), seen).state.change?.phase).toBe('watching');
  });

  test('one that an old list overruled is on trial again once a newer one has it', () => {
    const stale = twice(stateOf(), after(0.1, {}, { parameters: PARAMETERS }));
    expect(stale.state).toMatchObject({ pause: { for: 'a hand' }, change: { outcome: 'overruled' } });
    const { state } = decide(stale.state, after(0.2));
    expect(state.change).toMatchObject({ phase: 'watching', outcome: undefined });
    expect(decide(state, after(0.4, HARM)).send).toEqual(FROM);
    // Of the name of another endpoint it is not.
    expect(decide(stale.state, after(0.2, {}, { endpointId: 32 })).state.change?.outcome).toBe('overruled');
  });
});
