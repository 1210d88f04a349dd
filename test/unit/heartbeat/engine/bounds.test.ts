/** The moments at which a heartbeat does one thing and not yet, or no more, another. */
import { describe, expect, test } from 'vitest';
import { checkTiming, goneDelay, timingFor } from '../../../../src/heartbeat/engine/formulas.ts';
import {
  deadlineAt,
  expiresAt,
  isInTime,
  lastCall,
  lastChance,
  lifeLeft,
  sendAt,
  urgentAt,
} from '../../../../src/heartbeat/engine/schedule.ts';
import { startHeartbeat } from '../../../../src/heartbeat/engine/state.ts';
import { ACCEPTED, NOT_FOUND, Patient, REFUSED, UNAUTHORIZED } from './patient.ts';

test('a heartbeat begins with nothing known', () => {
  const timing = timingFor({ ttl: 20_000, interval: 'auto' });
  const now = { mono: 1_000, wall: 5_000_000 };
  const begun = { id: 42, timing, spread: 0.5, keyGeneration: 3 };
  const beat = startHeartbeat({ ...begun, dueAt: 1_500 }, now);
  expect(beat).toEqual({
    ...begun,
    state: 'starting',
    trouble: 'none',
    drift: { offset: 4_999_000, hidden: 0 },
    basis: 1_000,
    basisMono: 1_000,
    acknowledged: false,
    dueAt: 1_500,
    latestAt: 3_000,
    lastSentAt: -Infinity,
    inFlight: [],
    attempts: 0,
    failures: 0,
    latencies: [],
    keyReadAt: Infinity,
    notFoundAt: undefined,
    notFoundBy: undefined,
    gone: false,
    withheld: false,
    fresh: false,
    hedging: true,
  });
  expect(startHeartbeat({ ...begun, dueAt: 4_000 }, now).latestAt).toBe(4_000);
});

test('all lengths of time follow from the TTL', () => {
  expect(timingFor({ ttl: 60_000, interval: 'auto' })).toEqual({
    ttl: 60_000,
    life: 59_400,
    interval: 12_000,
    goneInterval: 12_000,
    firstWithin: 6_000,
    attemptTimeout: 3_000,
    backoff: 3_000,
    tick: 1_000,
    pause: 2_000,
    rescue: 12_000,
    urgentBelow: 24_000,
    attemptLife: 9_000,
  });
});

test('one that is gone is asked at its interval while it may live, and then every 30 s', () => {
  const timing = timingFor({ ttl: 60_000, interval: 'auto' });
  expect(goneDelay(timing, 1, () => 0)).toBe(12_000 - 1_000);
  expect(goneDelay(timing, 0, () => 0)).toBe(30_000 - 1_000);
  expect(goneDelay(timing, 1, () => 0.5)).toBe(12_000 * 0.95 - 1_000);
});

test('one that was gone, accepted when its life is over, was made again: it has no margin', () => {
  const marginAt = (left: number) => {
    const patient = new Patient({ ttl: 20_000 }).light();
    patient.nextAttempt();
    patient.beat = { ...patient.beat, gone: true };
    const before = lifeLeft(patient.beat, patient.mono) - left;
    patient.mono += before;
    patient.wall += before;
    patient.answer(ACCEPTED);
    return patient.told('accepted').at(-1)?.marginMs;
  };
  expect(marginAt(1)).toBeCloseTo(1, 6);
  expect(marginAt(0)).toBeUndefined();
});

test('after any trouble, and after the first beat, the next one is spread; after others it is not', () => {
  const nextIn = (trouble: boolean) => {
    const patient = new Patient({ ttl: 60_000 }).light();
    patient.beat = { ...patient.beat, spread: 0.5 };
    if (trouble) {
      patient.nextAttempt();
      patient.answer(REFUSED);
    }
    patient.nextAttempt();
    patient.answer(ACCEPTED);
    return patient.nextIn;
  };
  expect(nextIn(false)).toBeCloseTo(11_000, 6);
  expect(nextIn(true)).toBeCloseTo(5_500, 6);
});

test('a beat that is due may be put off until two attempts have just room', () => {
  const { beat } = new Patient({ ttl: 60_000 }).light();
  expect(beat.latestAt).toBeCloseTo(expiresAt(beat) - beat.timing.rescue, 6);
});

test('of the last twenty accepted attempts it is known how long they took', () => {
  const patient = new Patient({ ttl: 60_000 });
  for (let latency = 1; latency <= 25; latency += 1) {
    patient.nextAttempt();
    patient.pass(latency);
    patient.answer(ACCEPTED);
  }
  const { latencies } = patient.beat;
  expect(latencies.map((latency) => Math.round(latency))).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 6),
  );
});

describe('how long a rate limit may be waited for', () => {
  const { beat } = new Patient({ ttl: 60_000 }).light();
  const unknown = new Patient().light().beat;
  const expiry = expiresAt(beat);

  test.each([
    ['until two attempts have just room', expiry - 12_001, expiry - 12_000],
    ['past that, until one has', expiry - 12_000, expiry - 6_000],
    ['until then also when that is over', expiry - 1, expiry - 6_000],
    ['for an interval once there is nothing left to lose', expiry, expiry + 12_000],
  ])('%s', (_what, mono, latest) => {
    expect(lastCall(beat, mono)).toBeCloseTo(latest, 6);
    expect(lastChance(beat)).toBeCloseTo(expiry - 6_000, 6);
  });

  test('for an interval where the TTL is not known, as it may be short', () => {
    expect(lastCall(unknown, 7_000)).toBe(27_000);
    expect(lastCall({ ...unknown, timing: { ...unknown.timing, interval: 90_000 } }, 7_000)).toBe(67_000);
    expect(lastChance(unknown)).toBe(Infinity);
  });
});

describe('a 429', () => {
  const throttled = (random: number, ttl = 300_000) => {
    const patient = new Patient({ ttl, random }).light();
    patient.nextAttempt();
    patient.pass(100);
    patient.answer({ type: 'throttled', retryAfterMs: 400_000 });
    return patient;
  };

  test.each([
    [0, 3_750],
    [0.5, 3_375],
  ])(
    'leaves the wait to the rate limiter: it is due after the pause of a failure (%d)',
    (random, pauseMs) => {
      const { beat, mono } = throttled(random);
      expect(beat.dueAt).toBeCloseTo(mono + pauseMs, 6);
      expect(beat.latestAt).toBeCloseTo(expiresAt(beat) - beat.timing.rescue, 6);
    },
  );

  test('of an older attempt moves nothing', () => {
    const patient = new Patient({ ttl: 20_000 }).light();
    const older = patient.nextAttempt();
    patient.pass(1_000);
    patient.nextAttempt();
    const { dueAt, latestAt } = patient.beat;
    patient.answer({ type: 'throttled' }, older.attempt);
    expect(patient.beat).toMatchObject({ dueAt, latestAt, trouble: 'throttled', hedging: false });
  });
});

describe('an attempt that leaves before the rate limit allows it', () => {
  const sent = (heldFor: number) => {
    const patient = new Patient({ ttl: 60_000 }).light();
    patient.mono += patient.nextIn;
    patient.tell({ type: 'wake', room: true, heldUntil: patient.mono + heldFor });
    return patient.told('wait-cut-short');
  };

  test('says by how much', () => {
    expect(sent(700)).toEqual([{ type: 'wait-cut-short', byMs: 700 }]);
  });

  test.each([0, -700])('is none after %d ms', (heldFor) => {
    expect(sent(heldFor)).toEqual([]);
  });
});

describe('a step of the clock too small for an alarm', () => {
  test('moves all that is due by as much as it hides', () => {
    const patient = new Patient({ ttl: 60_000 }).light();
    const { dueAt, latestAt } = patient.beat;
    patient.wall += 1_500;
    patient.tell({ type: 'wake', room: false });
    expect(patient.beat).toMatchObject({ dueAt: dueAt - 1_500, latestAt: latestAt - 1_500, fresh: false });
    patient.wall += 1_000;
    patient.tell({ type: 'wake', room: false });
    expect(patient.beat).toMatchObject({ dueAt: dueAt - 2_500, latestAt: latestAt - 2_500 });
    expect(patient.told('clock-step')).toEqual([]);
  });

  test.each([
    [2_000, false],
    [2_001, true],
    [-2_000, false],
    [-2_001, true],
  ])('is %i ms: alarming is %s', (byMs, isAlarming) => {
    const patient = new Patient({ ttl: 60_000 }).light();
    patient.wall += byMs;
    patient.tell({ type: 'wake', room: false });
    expect(patient.told('clock-step')).toEqual(isAlarming ? [{ type: 'clock-step', byMs }] : []);
    expect(patient.beat.fresh).toBe(isAlarming);
  });
});

describe('another timing', () => {
  const retimed = (ttl: number, patient = new Patient({ ttl: 60_000 }).light()) => {
    patient.tell({ type: 'timing', timing: timingFor({ ttl, interval: 'auto' }) });
    return patient.beat;
  };

  test('that is shorter moves what is due, and how far it may be put off', () => {
    const { dueAt, latestAt, timing, basis } = retimed(20_000);
    expect(dueAt).toBeCloseTo(basis + 4_000 - timing.tick, 6);
    expect(latestAt).toBeCloseTo(dueAt + 2_100, 6);
  });

  test('that is longer waits for the next beat', () => {
    const { beat } = new Patient({ ttl: 60_000 }).light();
    expect(retimed(300_000)).toMatchObject({ dueAt: beat.dueAt, latestAt: beat.latestAt });
  });

  test('of one that never left moves it too, and not while one is awaited', () => {
    const waiting = new Patient({ ttl: 60_000 });
    waiting.beat = { ...waiting.beat, dueAt: waiting.mono + 5_000 };
    expect(retimed(20_000, waiting).dueAt).toBe(waiting.mono + 2_000);
    const awaited = new Patient({ ttl: 60_000 });
    awaited.nextAttempt();
    expect(retimed(20_000, awaited).dueAt).toBe(Infinity);
  });
});

describe('a change of state', () => {
  test('says what is left, where that is known', () => {
    const patient = new Patient({ ttl: 20_000 }).light();
    patient.nextAttempt();
    const { remaining } = patient;
    patient.answer(REFUSED);
    expect(patient.told('state')).toEqual([
      { type: 'state', from: 'starting', to: 'healthy', remainingMs: 19_750 },
      { type: 'state', from: 'healthy', to: 'retrying', remainingMs: remaining },
    ]);
  });

  test('says nothing of it without a TTL, and before the first accepted beat', () => {
    const unknown = new Patient().light();
    expect(unknown.told('state')).toEqual([{ type: 'state', from: 'starting', to: 'healthy' }]);
    const never = new Patient({ ttl: 20_000 });
    never.nextAttempt();
    never.answer(NOT_FOUND);
    expect(never.told('state')).toEqual([{ type: 'state', from: 'starting', to: 'suspect-gone' }]);
  });
});

describe('a heartbeat is woken', () => {
  test('healthy, at its expiry', () => {
    const { beat } = new Patient({ ttl: 60_000 }).light();
    expect(deadlineAt(beat)).toBe(expiresAt(beat));
  });

  test('retrying, when it is urgent; then at its expiry; and then for nothing', () => {
    const patient = new Patient({ ttl: 60_000 }).light();
    patient.nextAttempt();
    patient.answer(REFUSED);
    expect(deadlineAt(patient.beat)).toBe(urgentAt(patient.beat));
    const { beat } = patient;
    expect(deadlineAt({ ...beat, state: 'urgent' })).toBe(expiresAt(beat));
    expect(deadlineAt({ ...beat, state: 'lapsed' })).toBe(Infinity);
    expect(deadlineAt({ ...beat, state: 'gone' })).toBe(Infinity);
    expect(deadlineAt({ ...beat, keyReadAt: 77 })).toBe(77);
  });

  test('with an attempt under way, when that is overdue, and when its life is over', () => {
    const patient = new Patient({ ttl: 60_000 }).light();
    const { at } = patient.nextAttempt();
    expect(deadlineAt(patient.beat)).toBe(at + 3_000);
    patient.pass(3_000);
    expect(deadlineAt({ ...patient.beat, state: 'lapsed' })).toBe(at + 9_000);
  });
});

test('a slow attempt has no other beside it where that would come when the first is overdue', () => {
  const patient = new Patient({ ttl: 20_000 });
  patient.nextAttempt();
  expect(sendAt(patient.beat)).toBe(Infinity);
});

test('an attempt that ends with the TTL is in time', () => {
  const { beat } = new Patient({ ttl: 20_000 }).light();
  const last = expiresAt(beat) - 1_000;
  expect([isInTime(beat, last), isInTime(beat, last + 1)]).toEqual([true, false]);
});

describe('the timing check', () => {
  test('says the interval where the automatic one would do, to the millisecond', () => {
    expect(checkTiming({ ttl: 4_362, interval: 2_000 })).toMatchObject({ change: 'interval', atMost: 1_000 });
    expect(checkTiming({ ttl: 4_361, interval: 2_000 })).toMatchObject({ change: 'ttl', got: 4_361 });
  });

  test('says in words what is too short', () => {
    expect(checkTiming({ ttl: 60_000, interval: 999 })).toEqual({
      change: 'interval',
      got: 999,
      atLeast: 1_000,
      message: 'an interval of 0.999 s is below 1 s, the shortest time between two heartbeats',
    });
    expect(checkTiming({ ttl: 60_000, interval: 1_000 })).toBeUndefined();
    expect(checkTiming({ ttl: 3_000, interval: 'auto' })).toEqual({
      change: 'ttl',
      got: 3_000,
      atLeast: 4_400,
      message: 'a TTL of 3 s is too short to survive one failed heartbeat: use at least 4.4 s',
    });
  });
});

test('only a refusal of an older key is stale, and no other failure with one', () => {
  const patient = new Patient({ ttl: 20_000 }).light();
  patient.nextAttempt();
  patient.tell({ type: 'key', generation: 2 });
  patient.answer(REFUSED);
  expect(patient.told('failed')).toEqual([{ type: 'failed', attempt: 2, reason: 'connect' }]);
  expect(patient.beat.failures).toBe(1);
});

test('a refused key is tried again after B, jittered to earlier', () => {
  const patient = new Patient({ ttl: 60_000, random: 0.5 }).light();
  patient.nextAttempt();
  patient.answer(UNAUTHORIZED);
  expect(patient.beat.dueAt).toBe(patient.mono + 2_700);
});

test('after an overdue attempt the next one has a connection of its own, also where the place was needed', () => {
  const patient = new Patient({ ttl: 20_000 }).light();
  patient.nextAttempt();
  patient.pass(1_000);
  patient.tell({ type: 'evict', attempt: 2 });
  expect(patient.beat.inFlight).toEqual([]);
  expect(patient.nextAttempt().fresh).toBe(true);
});

test('another timing counts from the last accepted beat in elapsed time', () => {
  const patient = new Patient({ ttl: 60_000 }).light();
  const { basis } = patient.beat;
  patient.wall += 1_500;
  const timing = timingFor({ ttl: 20_000, interval: 'auto' });
  patient.tell({ type: 'timing', timing });
  expect(patient.beat.dueAt).toBeCloseTo(basis - 1_500 + 4_000 - timing.tick, 6);
});

test('a second attempt comes after what nineteen of twenty took at most, in whatever order they came', () => {
  const patient = new Patient({ ttl: 300_000 }).light();
  while (patient.state !== 'urgent') {
    patient.nextAttempt();
    patient.answer(REFUSED);
  }
  const latencies = Array.from({ length: 20 }, (_, index) => (index === 18 ? 2_000 : 1_500));
  patient.beat = { ...patient.beat, latencies };
  const { at } = patient.nextAttempt();
  expect(sendAt(patient.beat)).toBe(at + 1_500);
});

test('lit again it is in trouble, though it was in none', () => {
  const patient = new Patient({ ttl: 60_000 }).light();
  patient.tell({ type: 'withhold' });
  patient.tell({ type: 'resume' });
  expect(patient.beat).toMatchObject({ trouble: 'failing', state: 'retrying', dueAt: patient.mono });
});

test('once it is stopped nothing changes it', () => {
  const patient = new Patient({ ttl: 60_000 }).light();
  patient.tell({ type: 'stop' });
  const { beat } = patient;
  patient.wall += 60_000;
  for (const type of ['beat-now', 'withhold', 'resume', 'stop'] as const) patient.tell({ type });
  expect(patient.beat).toBe(beat);
});
