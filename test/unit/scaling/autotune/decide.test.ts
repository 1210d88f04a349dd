import { describe, expect, test } from 'vitest';
import {
  answered,
  CHANGE_EVERY_MS,
  decide,
  type Answer,
  type Decision,
  type Seen,
} from '../../../../src/scaling/autotune/decide.ts';
import { HOUR_MS, type Minute } from '../../../../src/scaling/autotune/minutes.ts';
import {
  NEVER_STEERED,
  wantedBySteering,
  type SteeringState,
} from '../../../../src/scaling/autotune/state.ts';
import {
  adviceOf,
  exactly,
  MINUTE_MS,
  minutesOf,
  NOON,
  PARAMETERS,
  seenOf,
} from '../../../support/steering.ts';

const CHANGED = { ...PARAMETERS, target_util: 0.8, cold_workers: 4 };
const TO = { target_util: 0.8, cold_workers: 4 };
const FROM = { target_util: 0.9, cold_workers: 5 };
const DAY_MS = 24 * HOUR_MS;
const READ: SteeringState = { ...NEVER_STEERED, baseline: PARAMETERS, endpointId: 31 };

/** A change that the service took at noon, and was read to have. */
function inForce(): SteeringState {
  const sent = answered(decide(READ, seenOf()).state, { kind: 'taken', words: '' }, NOON);
  return decide(sent, seenOf({ parameters: CHANGED })).state;
}

/** One look at parameters that nothing explains proves nothing. */
function seenTwice(state: SteeringState, seen: Seen): Decision {
  const once = decide(state, seen);
  expect(once).toMatchObject({ send: undefined, holds: expect.stringMatching(/read once more/) });
  expect(once.state).toEqual({ ...state, odd: seen.parameters });
  return decide(once.state, seen);
}

/** A day before noon, and six hours since, a fifth cheaper but for what is given. */
function trialMinutes(given: Partial<Minute> = { cost: 1.6 }, fromMs = NOON): Minute[] {
  return [...minutesOf(fromMs - DAY_MS, fromMs), ...minutesOf(fromMs, fromMs + CHANGE_EVERY_MS, given)];
}

/** Whose trial was as predicted. */
function kept(): SteeringState {
  const nowMs = NOON + CHANGE_EVERY_MS;
  return decide(inForce(), seenOf({ nowMs, parameters: CHANGED, minutes: trialMinutes(), advice: undefined }))
    .state;
}

describe('a change', () => {
  test('is written down with what, why, from, to and what is expected, and sent', () => {
    const { state, send, holds } = decide(READ, seenOf());
    expect(send).toEqual(TO);
    expect(holds).toBeUndefined();
    expect(state.change).toMatchObject({
      id: 1,
      atMs: NOON,
      why: 'cheaper',
      from: FROM,
      to: TO,
      limits: { cold_workers: 'step' },
      phase: 'sending',
      expected: { costBefore: exactly(10), costAfter: exactly(8), limitSeconds: 5, backtestError: 0.04 },
    });
    expect(state.pause).toEqual({ untilMs: NOON + CHANGE_EVERY_MS, for: 'change' });
  });

  test('moves all parameters together, or none', () => {
    const advice = adviceOf({ atMs: NOON, best: { target_util: 0.8, cold_mult: 2 } });
    expect(decide(READ, seenOf({ advice }))).toMatchObject({
      send: undefined,
      holds: expect.stringMatching(/cold_mult/),
    });
  });

  test('says where a bound decided', () => {
    const bounds = { target_util: [0.8, 0.9], cold_workers: [0, 10] } as const;
    expect(decide(READ, seenOf({ bounds })).state.change?.limits).toEqual({
      target_util: 'bound',
      cold_workers: 'step',
    });
  });

  const wrong = adviceOf({ atMs: NOON, best: TO });
  test.each([
    [
      'whose backtest did not hold',
      { ...wrong, backtest: { errorRatio: 0.3, held: false } },
      /does not reproduce/,
    ],
    [
      'whose model is off by a fifth',
      { ...wrong, backtest: { errorRatio: 0.2, held: true } },
      /off by 20%: nothing is changed upon more than 15%/,
    ],
    [
      'whose saving is less than half of what its model is off by',
      {
        ...adviceOf({ atMs: NOON, best: TO, costs: [10, 9.31] }),
        backtest: { errorRatio: 0.14, held: true },
      },
      /predicted to cost 7% less, by a model that is off by 14%/,
    ],
    ['without a backtest', { ...wrong, backtest: undefined }, /does not reproduce/],
    ['to keep what is there', { ...wrong, verdict: 'keep' as const, sentence: 'keep it' }, /keep it/],
    ['that is dearer by its own word', { ...wrong, verdict: 'dearer' as const }, /cheaper/],
    ['to a set that is predicted dearer', adviceOf({ atMs: NOON, best: TO, costs: [10, 10] }), /dearer/],
    ['to a set that misses the limit', adviceOf({ atMs: NOON, best: TO, p99: 5.1 }), /limit/],
    [
      'for other parameters',
      adviceOf({ atMs: NOON, today: { cold_workers: 6 }, best: TO }),
      /other parameters/,
    ],
    [
      'that moves what no bounds name',
      adviceOf({ atMs: NOON, best: { cold_mult: 3.5 } }),
      /^the advised set moves cold_mult, which no bounds name$/,
    ],
    ['beyond one step', adviceOf({ atMs: NOON, best: { cold_workers: 3 } }), /more than one step/],
    ['beyond the bounds', adviceOf({ atMs: NOON, best: { target_util: 0.97 } }), /more than one step/],
  ])('is not made upon advice %s', (_, advice, holds) => {
    expect(decide(READ, seenOf({ advice }))).toMatchObject({
      send: undefined,
      holds: expect.stringMatching(holds),
    });
  });

  test('is made upon a saving of half of what its model is off by', () => {
    const advice = adviceOf({ atMs: NOON, best: TO, costs: [10, 9.29] });
    const backtest = { errorRatio: 0.14, held: true };
    expect(decide(READ, seenOf({ advice: { ...advice, backtest } })).send).toEqual(TO);
  });

  test('is not made where a rule is against it, unless today’s set breaks it too', () => {
    const at = (today: number) => {
      const parameters = { ...PARAMETERS, max_workers: 1, cold_workers: 1, min_load: today };
      const from = { cold_workers: 1, min_load: today };
      const advice = adviceOf({ atMs: NOON, today: from, best: { min_load: 95 } });
      const seen = seenOf({ parameters, advice, bounds: { min_load: [0, 1000] } });
      return decide({ ...READ, baseline: parameters }, seen);
    };
    expect(at(0)).toMatchObject({
      send: undefined,
      holds: expect.stringMatching(/a rule is against it: min_load/),
    });
    expect(at(120).send).toEqual({ min_load: 95 });
  });
});

describe('nothing new moves', () => {
  test.each([
    ['without bounds', { bounds: {} }, /no bounds/],
    ['in the first hour after a start', { sinceMs: NOON - HOUR_MS + 1 }, /first hour after a start/],
    ['while parameters cannot be read', { parameters: undefined }, /could not be read/],
    ['without samples', { minutes: [] }, /samples are missing/],
    ['without advice', { advice: undefined }, /awaited/],
    [
      'upon advice of six hours ago',
      { advice: adviceOf({ atMs: NOON - CHANGE_EVERY_MS, best: TO }) },
      /awaited/,
    ],
  ])('%s', (_, seen, holds) => {
    const decision = decide(READ, seenOf(seen));
    expect(decision).toMatchObject({ send: undefined, state: READ, holds: expect.stringMatching(holds) });
    expect(decision.wantsAdvice).toBe(holds.source === 'awaited');
  });

  test('where one step brings no parameter inside its bounds, and no advice is asked for', () => {
    const bounds = { target_util: [0.3, 0.5], cold_workers: [20, 30] } as const;
    expect(decide(READ, seenOf({ bounds, advice: undefined }))).toMatchObject({
      send: undefined,
      wantsAdvice: false,
      holds: 'target_util is 0.9, cold_workers is 5: one step does not bring any of it inside its bounds',
    });
    const one = { ...bounds, cold_workers: [1, 10] } as const;
    expect(decide(READ, seenOf({ bounds: one, advice: undefined })).wantsAdvice).toBe(true);
  });

  test('within six hours of the last change', () => {
    const before = NOON + CHANGE_EVERY_MS - 1;
    const best = { cold_workers: 3 };
    const at = (nowMs: number) =>
      decide(
        kept(),
        seenOf({ nowMs, parameters: CHANGED, advice: adviceOf({ atMs: nowMs, today: TO, best }) }),
      );
    expect(at(before)).toMatchObject({
      send: undefined,
      wantsAdvice: false,
      holds: 'the last change is not six hours old: nothing moves before 2030-03-18 00:00 UTC',
    });
    expect(at(before + 1).send).toEqual(best);
    // Just started: what holds for longer is told.
    const justStarted = seenOf({ nowMs: before, sinceMs: before, parameters: CHANGED });
    expect(decide(kept(), justStarted).holds).toMatch(/^the last change is not six hours old/);
    expect(at(before + 1).state.change?.id).toBe(2);
  });

  test('while a change is watched', () => {
    const nowMs = NOON + 30 * MINUTE_MS;
    expect(decide(inForce(), seenOf({ nowMs, parameters: CHANGED }))).toMatchObject({
      send: undefined,
      holds: 'a change is on trial',
    });
  });
});

describe('the trial', () => {
  test('ends with the change kept, and what came of it', () => {
    expect(kept().change).toMatchObject({
      phase: 'over',
      outcome: 'kept',
      came: { minutes: 60, excessMinutes: 0 },
    });
    expect(wantedBySteering(kept())).toEqual(TO);
  });

  const harmAt = NOON + 3 * MINUTE_MS;
  const harmful = [...minutesOf(NOON - DAY_MS, NOON), ...minutesOf(NOON, harmAt, { load: 300 })];

  test('harm puts the old values back at once, whatever pauses there are, and a day of pause follows', () => {
    const back = decide(inForce(), seenOf({ nowMs: harmAt, parameters: CHANGED, minutes: harmful }));
    expect([back.send, back.holds]).toEqual([FROM, 'old values are being put back']);
    expect(back.state.change).toMatchObject({
      phase: 'returning',
      because: expect.stringMatching(/3 minutes/),
    });
    const nowMs = harmAt + MINUTE_MS;
    const over = decide(back.state, seenOf({ nowMs, minutes: harmful }));
    expect(over.send).toBeUndefined();
    expect(over.state.change).toMatchObject({ outcome: 'rolled_back', endedMs: nowMs });
    expect(over.state.pause).toEqual({ untilMs: nowMs + DAY_MS, for: 'rolled back' });
    expect(decide(over.state, seenOf({ nowMs: nowMs + DAY_MS - 1 })).holds).toMatch(/taken back/);
    expect(decide(over.state, seenOf({ nowMs: nowMs + DAY_MS })).send).toEqual(TO);
  });

  test('whoever comes next inherits it, in its own first hour too', () => {
    const stored = JSON.parse(JSON.stringify(inForce())) as SteeringState;
    const seen = { nowMs: harmAt, sinceMs: harmAt, parameters: CHANGED, minutes: harmful };
    expect(decide(stored, seenOf(seen)).send).toEqual(FROM);
  });

  test('it is sent until the service is read to have it', () => {
    let { state, send } = decide(inForce(), seenOf({ nowMs: harmAt, parameters: CHANGED, minutes: harmful }));
    for (const kind of ['refused', 'unknown', 'taken'] as const) {
      state = answered(state, { kind, words: 'no' }, harmAt);
      ({ state, send } = decide(state, seenOf({ nowMs: harmAt, parameters: CHANGED, minutes: harmful })));
      expect(send).toEqual(FROM);
      expect(state.change?.phase).toBe('returning');
    }
    expect(decide(state, seenOf({ nowMs: harmAt, parameters: undefined })).state).toBe(state);
  });

  test('what cost more than before goes back at its end', () => {
    const minutes = trialMinutes({ cost: 2.05 });
    const at = (nowMs: number) => decide(inForce(), seenOf({ nowMs, parameters: CHANGED, minutes }));
    expect(at(NOON + CHANGE_EVERY_MS - 1).state.change?.phase).toBe('watching');
    const { send, state } = at(NOON + CHANGE_EVERY_MS);
    expect(send).toEqual(FROM);
    expect(state.change).toMatchObject({ phase: 'returning', because: expect.stringMatching(/20% less/) });
  });

  test('each further one in a row that is taken back is followed by a pause twice as long, up to eight days', () => {
    let state = READ;
    let nowMs = NOON;
    const pauses = Array.from({ length: 5 }, () => {
      state = decide(state, seenOf({ nowMs })).state;
      state = decide(state, seenOf({ nowMs, parameters: CHANGED })).state;
      const minutes = [
        ...minutesOf(nowMs - DAY_MS, nowMs),
        ...minutesOf(nowMs, nowMs + 3 * MINUTE_MS, { load: 300 }),
      ];
      nowMs += 3 * MINUTE_MS;
      state = decide(state, seenOf({ nowMs, parameters: CHANGED, minutes })).state;
      state = decide(state, seenOf({ nowMs, minutes })).state;
      const pauseMs = (state.pause?.untilMs ?? 0) - nowMs;
      expect(decide(state, seenOf({ nowMs: nowMs + pauseMs - 1 })).holds).toMatch(
        /taken back: nothing moves/,
      );
      nowMs += pauseMs;
      return pauseMs / DAY_MS;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 8]);
    expect(kept().takenBack).toBeUndefined();
    expect(
      seenTwice(state, seenOf({ nowMs, parameters: { ...PARAMETERS, target_util: 0.7 } })).state,
    ).toMatchObject({
      pause: { untilMs: nowMs + DAY_MS, for: 'a hand' },
      takenBack: undefined,
    });
  });

  test('without samples it goes on', () => {
    const minutes = minutesOf(NOON - DAY_MS, NOON + 10 * MINUTE_MS);
    const decision = decide(inForce(), seenOf({ nowMs: NOON + 3 * HOUR_MS, parameters: CHANGED, minutes }));
    expect(decision.state.change?.phase).toBe('watching');
  });
});

describe('an answer that is missing', () => {
  const sent = decide(READ, seenOf()).state;
  const later = NOON + 5 * MINUTE_MS;

  test('is read back: the change is in force since it was sent', () => {
    expect(answered(sent, { kind: 'unknown', words: '' }, NOON)).toBe(sent);
    const { state, send } = decide(sent, seenOf({ nowMs: later, parameters: CHANGED }));
    expect(send).toBeUndefined();
    expect(state).toMatchObject({ baseline: CHANGED, change: { phase: 'watching', setMs: NOON } });
  });

  test('is read back: the change never came into force, once it cannot be under way any more', () => {
    expect(decide(sent, seenOf({ nowMs: NOON + MINUTE_MS })).state).toBe(sent);
    const { state } = decide(sent, seenOf({ nowMs: later }));
    expect(state.change).toMatchObject({
      phase: 'over',
      outcome: 'lost',
      because: 'it was not sent, or not answered, and the service does not have it',
      endedMs: later,
      setMs: undefined,
    });
    expect(state.pause?.untilMs).toBe(NOON + CHANGE_EVERY_MS);
  });

  test('is read back: only a part of it arrived, which goes back', () => {
    const { state, send } = decide(
      sent,
      seenOf({ nowMs: later, parameters: { ...PARAMETERS, cold_workers: 4 } }),
    );
    expect(send).toEqual(FROM);
    expect(state.change).toMatchObject({ phase: 'returning', because: 'only a part of it arrived' });
    expect(state.pause).toEqual({ untilMs: later + DAY_MS, for: 'rolled back' });
  });

  test('is read back: a person was there', () => {
    const { state, send } = seenTwice(
      sent,
      seenOf({ nowMs: later, parameters: { ...CHANGED, target_util: 0.7 } }),
    );
    expect(send).toBeUndefined();
    expect(state.change).toMatchObject({
      outcome: 'overruled',
      because: 'somebody changed the parameters',
      came: undefined,
      endedMs: later,
    });
  });
});

describe('an answer is not believed', () => {
  const sent = decide(READ, seenOf()).state;
  const answeredAs = (kind: Answer['kind'], words = '') => answered(sent, { kind, words }, NOON + 5);
  const soon = NOON + 2 * MINUTE_MS - 1;
  const late = NOON + 2 * MINUTE_MS;

  test('yes: a list that is behind is waited for, and its hour begins with the answer', () => {
    const waiting = decide(answeredAs('taken'), seenOf({ nowMs: soon }));
    expect(waiting).toMatchObject({ send: undefined, state: { change: { phase: 'sending' } } });
    const { state } = decide(waiting.state, seenOf({ nowMs: late, parameters: CHANGED }));
    expect(state).toMatchObject({ baseline: CHANGED, change: { phase: 'watching', setMs: NOON + 5 } });
  });

  test('yes, of a service that never has it: it did not come into force', () => {
    const { state } = decide(answeredAs('taken'), seenOf({ nowMs: late }));
    expect(state.change).toMatchObject({
      outcome: 'lost',
      because: 'the service said that it took it, and does not have it',
      setMs: undefined,
    });
  });

  test('no, of a gateway: what has arrived is in force, and watched', () => {
    const { state } = decide(answeredAs('refused', 'HTTP 404'), seenOf({ nowMs: soon, parameters: CHANGED }));
    expect(state.change).toMatchObject({ phase: 'watching', setMs: NOON, because: undefined });
  });

  test('no: it is refused once it cannot be under way, and counts as the change of these six hours', () => {
    const refused = answeredAs('refused', 'HTTP 400');
    expect(decide(refused, seenOf({ nowMs: soon })).state.change?.phase).toBe('sending');
    const { state, holds } = decide(refused, seenOf({ nowMs: late }));
    expect(state.change).toMatchObject({ phase: 'over', outcome: 'refused', because: 'HTTP 400' });
    expect(holds).toMatch(/the last change is not six hours old: nothing moves before/);
  });

  test.each([
    ['single precision', Math.fround(0.8), { target_util: Math.fround(0.8), cold_workers: 4 }],
    ['two digits', 0.795, { target_util: 0.795, cold_workers: 4 }],
  ])('a service that keeps %s has it, and what it has is what is watched', (_, target_util, to) => {
    const parameters = { ...CHANGED, target_util };
    const { state } = decide(answeredAs('taken'), seenOf({ nowMs: soon, parameters }));
    expect(state).toMatchObject({ baseline: parameters, change: { phase: 'watching', to } });
    expect(decide(state, seenOf({ nowMs: late, parameters })).state).toBe(state);
  });

  test('a service that rounds, or has bounds of its own, stops on the way: what it has is on trial', () => {
    const parameters = { ...CHANGED, target_util: 0.85 };
    const { state, send } = decide(answeredAs('taken'), seenOf({ nowMs: soon, parameters }));
    expect(send).toBeUndefined();
    const to = { target_util: 0.85, cold_workers: 4 };
    expect(state).toMatchObject({ baseline: parameters, change: { phase: 'watching', to } });
  });

  test('one that rounds beyond it has what nobody predicted: the old values go back', () => {
    const parameters = { ...CHANGED, target_util: 0.75 };
    const { state, send } = decide(answeredAs('taken'), seenOf({ nowMs: soon, parameters }));
    expect(send).toEqual({ target_util: 0.9, cold_workers: 5 });
    expect(state.change).toMatchObject({
      phase: 'returning',
      because: 'the service made target_util 0.75 of it',
    });
  });

  test.each([0.69, 0.91])('but %s, behind it or two steps away, is a person’s', (target_util) => {
    const seen = seenOf({ nowMs: soon, parameters: { ...CHANGED, target_util } });
    expect(seenTwice(answeredAs('taken'), seen).state.change?.outcome).toBe('overruled');
  });
});

describe('one look proves nothing', () => {
  test.each([
    ['a list that is behind', PARAMETERS],
    ['a parameter that is left out, and has its default', { ...CHANGED, cold_mult: 9 }],
  ])('%s, once: the change is watched on', (_, parameters) => {
    const before = inForce();
    const { state } = decide(before, seenOf({ nowMs: NOON + MINUTE_MS, parameters }));
    expect(state).toEqual({ ...before, odd: parameters });
    expect(decide(state, seenOf({ nowMs: NOON + 2 * MINUTE_MS, parameters: CHANGED })).state).toEqual(before);
  });

  test('another one each time: nothing is concluded, and nothing moves', () => {
    let state = READ;
    for (const max_workers of [19, 18, 17]) {
      const decision = decide(state, seenOf({ parameters: { ...PARAMETERS, max_workers } }));
      expect(decision).toMatchObject({ send: undefined, wantsAdvice: false });
      ({ state } = decision);
    }
    expect(state.pause).toBeUndefined();
  });
});

test('a name that is another endpoint’s now has no duty of the one before', () => {
  const before = inForce();
  const returning: SteeringState = {
    ...before,
    change: before.change && { ...before.change, phase: 'returning' },
  };
  const { state, send } = decide(returning, seenOf({ endpointId: 33, parameters: CHANGED }));
  expect(send).toBeUndefined();
  expect(state).toMatchObject({
    pause: { for: 'a hand' },
    change: { outcome: 'overruled', because: "its name is another endpoint's now: 33, not 31" },
  });
});

test('a name that another endpoint has now moves nothing for a day, also between two changes', () => {
  const remade = decide(READ, seenOf({ endpointId: 77 }));
  expect(remade).toMatchObject({
    send: undefined,
    state: { endpointId: 77, pause: { untilMs: NOON + DAY_MS, for: 'a hand' } },
  });
  // What an older version stored does not say which it was.
  const { endpointId: _, ...unnamed } = READ;
  expect(decide(unnamed, seenOf({ endpointId: 77 }))).toMatchObject({
    send: { target_util: 0.8, cold_workers: 4 },
    state: { endpointId: 77 },
  });
});

test('old values that the service takes and does not have are told after five minutes, and sent on', () => {
  let state = decide(
    inForce(),
    seenOf({ nowMs: NOON + MINUTE_MS, parameters: CHANGED, isActive: false }),
  ).state;
  expect(state.change?.phase).toBe('returning');
  for (let minute = 2; minute <= 7; minute += 1) {
    state = answered(state, { kind: 'taken', words: '' }, NOON + minute * MINUTE_MS - 1);
    expect(state.change?.refused?.sinceMs).toBe(minute > 6 ? NOON + MINUTE_MS : undefined);
    const decision = decide(state, seenOf({ nowMs: NOON + minute * MINUTE_MS, parameters: CHANGED }));
    expect(decision.send).toEqual({ target_util: 0.9, cold_workers: 5 });
    ({ state } = decision);
  }
  expect(state.change?.refused).toEqual({
    sinceMs: NOON + MINUTE_MS,
    words: 'it says that it takes them, and does not have them',
  });
});

test('who refuses the old values, and since when, is kept until they are back', () => {
  const before = inForce();
  let state: SteeringState = { ...before, change: before.change && { ...before.change, phase: 'returning' } };
  state = answered(state, { kind: 'refused', words: 'HTTP 403' }, NOON + 1);
  state = answered(state, { kind: 'unknown', words: 'HTTP 500' }, NOON + 2);
  expect(state.change?.refused).toEqual({ sinceMs: NOON + 1, words: 'HTTP 500' });
  expect(answered(state, { kind: 'taken', words: '' }, NOON + 3).change?.refused).toBeUndefined();
});

describe("a person's hand", () => {
  const byHand = { ...PARAMETERS, cold_workers: 7 };

  test('wins: what it set is the baseline, and nothing moves for a day', () => {
    const { state, send } = seenTwice(READ, seenOf({ parameters: byHand }));
    expect(send).toBeUndefined();
    expect(state).toEqual({
      baseline: byHand,
      endpointId: 31,
      pause: { untilMs: NOON + DAY_MS, for: 'a hand' },
      change: undefined,
    });
    const advice = adviceOf({
      atMs: NOON + DAY_MS - 1,
      today: { cold_workers: 7 },
      best: { cold_workers: 6 },
    });
    const at = (nowMs: number) => decide(state, seenOf({ nowMs, parameters: byHand, advice }));
    expect(at(NOON + DAY_MS - 1).holds).toMatch(/somebody/);
    expect(at(NOON + DAY_MS).send).toEqual({ cold_workers: 6 });
  });

  test('on any parameter counts, also on one that is not steered', () => {
    const seen = seenOf({ parameters: { ...PARAMETERS, max_workers: 19 } });
    expect(seenTwice(READ, seen).state.pause?.for).toBe('a hand');
  });

  test.each([
    ['while a change is watched', () => inForce()],
    [
      'while old values go back',
      (): SteeringState => {
        const state = inForce();
        return { ...state, change: state.change && { ...state.change, phase: 'returning' } };
      },
    ],
  ])('wins %s: neither goes on', (_, before) => {
    const { state, send } = seenTwice(
      before(),
      seenOf({ nowMs: NOON + MINUTE_MS, parameters: { ...CHANGED, cold_workers: 9 } }),
    );
    expect(send).toBeUndefined();
    expect(state.change).toMatchObject({ phase: 'over', outcome: 'overruled' });
    expect(wantedBySteering(state)).toEqual({ target_util: 0.8, cold_workers: 9 });
  });

  test('near what is on trial is one too', () => {
    const { state } = seenTwice(
      inForce(),
      seenOf({ nowMs: NOON + MINUTE_MS, parameters: { ...CHANGED, target_util: 0.805 } }),
    );
    expect(state.change?.outcome).toBe('overruled');
  });

  test('that puts the old values back while a change is watched is one too', () => {
    expect(seenTwice(inForce(), seenOf({ nowMs: NOON + MINUTE_MS })).state.change?.outcome).toBe('overruled');
  });

  test('what is read first is nobody’s change', () => {
    expect(decide(NEVER_STEERED, seenOf({ advice: undefined })).state).toEqual(READ);
  });
});

describe('a clock that is set back', () => {
  const YEAR_MS = 365 * DAY_MS;
  const then = NOON - YEAR_MS;

  test('ends a trial, whose minutes would mix with those before it', () => {
    const { send, state } = decide(inForce(), seenOf({ nowMs: then, parameters: CHANGED }));
    expect(send).toEqual(FROM);
    expect(state.change).toMatchObject({
      phase: 'returning',
      because: expect.stringMatching(/clock was set back/),
    });
  });

  test('by two minutes at most goes unheeded', () => {
    const at = (nowMs: number) =>
      decide(inForce(), seenOf({ nowMs, parameters: CHANGED })).state.change?.phase;
    expect([at(NOON - 2 * MINUTE_MS), at(NOON - 2 * MINUTE_MS - 1)]).toEqual(['watching', 'returning']);
  });

  test.each([
    ['change', 1],
    ['a hand', 1],
    ['rolled back', 8],
  ] as const)('lets no pause for %s stand for longer than %d days', (reason, days) => {
    const state = { ...READ, pause: { untilMs: NOON, for: reason } };
    expect(decide(state, seenOf({ nowMs: then })).state.pause?.untilMs).toBe(then + days * DAY_MS);
  });

  test('makes advice of its future none', () => {
    const seen = seenOf({ nowMs: then, sinceMs: then - DAY_MS, advice: adviceOf({ atMs: NOON, best: TO }) });
    expect(decide(READ, seen)).toMatchObject({ send: undefined, wantsAdvice: true });
  });
});
