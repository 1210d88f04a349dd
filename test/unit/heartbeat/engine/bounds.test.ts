/** The moments at which a heartbeat does one thing and not yet, or no more, another. */
import { describe, expect, test } from 'vitest';
import { timingFor } from '../../../../src/heartbeat/engine/formulas.ts';
import {
  ageOf,
  deadlineAt,
  driftSince,
  expiresAt,
  nextBeatAt,
  sendAt,
  urgentAt,
  wasJustReached,
  withDrift,
} from '../../../../src/heartbeat/engine/state.ts';
import { ACCEPTED, NOT_FOUND, Patient, REFUSED, urgent } from './patient.ts';

test('after any trouble, and after the first beat, the next one is spread; after others it is not', () => {
  const nextIn = (trouble: boolean) => {
    const patient = new Patient({ ttl: 60_000 }).begun();
    patient.beat = { ...patient.beat, spread: 0.5 };
    if (trouble) {
      patient.meet(REFUSED);
    }
    patient.meet(ACCEPTED);
    return patient.nextIn;
  };
  expect(nextIn(false)).toBeCloseTo(11_000, 6);
  expect(nextIn(true)).toBeCloseTo(5_500, 6);
});

test('a beat that is due may be put off until two attempts have just room', () => {
  const { beat } = new Patient({ ttl: 60_000 }).begun();
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

test.each([700, 0, -700])('an attempt that leaves %i ms before the rate limit allows it says so', (byMs) => {
  const patient = new Patient({ ttl: 60_000 }).begun();
  patient.mono += patient.nextIn;
  patient.tell({ type: 'wake', room: true, heldUntil: patient.mono + byMs });
  expect(patient.told('wait-cut-short')).toEqual(byMs > 0 ? [{ type: 'wait-cut-short', byMs }] : []);
});

describe('a step of the clock too small for an alarm', () => {
  test('moves all that is due by as much as it hides', () => {
    const patient = new Patient({ ttl: 60_000 }).begun();
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
  ])('is %i ms: a beat at once, on a new connection: %s', (byMs, isAlarming) => {
    const patient = new Patient({ ttl: 60_000 }).begun();
    patient.pass(1_000);
    patient.wall += byMs;
    patient.tell({ type: 'wake', room: true });
    expect(patient.told('clock-step')).toEqual(isAlarming ? [{ type: 'clock-step', byMs }] : []);
    expect(patient.sent.slice(1)).toMatchObject(isAlarming ? [{ fresh: true }] : []);
  });
});

describe('another timing', () => {
  const retimed = (ttl: number, patient = new Patient({ ttl: 60_000 }).begun()) => {
    patient.tell({ type: 'timing', timing: timingFor({ ttl, interval: 'auto' }) });
    return patient.beat;
  };

  test('that is shorter moves what is due, and how far it may be put off', () => {
    const { dueAt, latestAt, timing, basis } = retimed(20_000);
    expect(dueAt).toBeCloseTo(basis + 4_000 - timing.tick, 6);
    expect(latestAt).toBeCloseTo(dueAt + 2_100, 6);
  });

  test('that is longer waits for the next beat', () => {
    const { beat } = new Patient({ ttl: 60_000 }).begun();
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
    const patient = new Patient({ ttl: 20_000 }).begun();
    patient.nextAttempt();
    const { remaining } = patient;
    patient.answer(REFUSED);
    expect(patient.told('state')).toEqual([
      { type: 'state', from: 'starting', to: 'healthy', remainingMs: 19_750 },
      { type: 'state', from: 'healthy', to: 'retrying', remainingMs: remaining },
    ]);
  });

  test('says nothing of it without a TTL, and before the first accepted beat', () => {
    const unknown = new Patient().begun();
    expect(unknown.told('state')).toEqual([{ type: 'state', from: 'starting', to: 'healthy' }]);
    const never = new Patient({ ttl: 20_000 });
    never.meet(NOT_FOUND);
    expect(never.told('state')).toEqual([{ type: 'state', from: 'starting', to: 'suspect-gone' }]);
  });
});

test('a heartbeat is woken when it becomes urgent, at its expiry, and for a key; a lapsed one for nothing', () => {
  const { beat } = new Patient({ ttl: 60_000 }).begun().meet(REFUSED);
  expect(deadlineAt(beat)).toBe(urgentAt(beat));
  expect(deadlineAt({ ...beat, state: 'urgent' })).toBe(expiresAt(beat));
  expect(deadlineAt({ ...beat, state: 'lapsed' })).toBe(Infinity);
  expect(deadlineAt({ ...beat, state: 'gone' })).toBe(Infinity);
  expect(deadlineAt({ ...beat, keyReadAt: 77 })).toBe(77);
});

test('a slow attempt has no other beside it where that would come when the first is overdue', () => {
  const patient = new Patient({ ttl: 20_000 });
  patient.nextAttempt();
  expect(sendAt(patient.beat)).toBe(Infinity);
});

test('only a refusal of an older key is stale, and no other failure with one', () => {
  const patient = new Patient({ ttl: 20_000 }).begun();
  patient.nextAttempt();
  patient.tell({ type: 'key', generation: 2 });
  patient.answer(REFUSED);
  expect(patient.told('failed')).toEqual([{ type: 'failed', attempt: 2, reason: 'connect' }]);
  expect(patient.beat.failures).toBe(1);
});

test('after an overdue attempt the next one has a connection of its own, also where the place was needed', () => {
  const patient = new Patient({ ttl: 20_000 }).begun();
  patient.nextAttempt();
  patient.pass(1_000);
  patient.tell({ type: 'evict', attempt: 2 });
  expect(patient.beat.inFlight).toEqual([]);
  expect(patient.nextAttempt().fresh).toBe(true);
});

test('another timing counts from the last accepted beat in elapsed time', () => {
  const patient = new Patient({ ttl: 60_000 }).begun();
  const { basis } = patient.beat;
  patient.wall += 1_500;
  const timing = timingFor({ ttl: 20_000, interval: 'auto' });
  patient.tell({ type: 'timing', timing });
  expect(patient.beat.dueAt).toBeCloseTo(basis - 1_500 + 4_000 - timing.tick, 6);
});

test('a second attempt comes after what nineteen of twenty took at most, in whatever order they came', () => {
  const patient = urgent();
  const latencies = Array.from({ length: 20 }, (_, index) => (index === 18 ? 2_000 : 1_500));
  patient.beat = { ...patient.beat, latencies };
  const { at } = patient.nextAttempt();
  expect(sendAt(patient.beat)).toBe(at + 1_500);
});

test('the next beat is expected when it is due, not before the spacing, and while one is awaited it is that', () => {
  const patient = new Patient({ ttl: 60_000 }).begun();
  const due = patient.mono + patient.nextIn;
  expect(nextBeatAt(patient.beat)).toBe(due);
  const { at } = patient.nextAttempt();
  patient.pass(500);
  expect(nextBeatAt(patient.beat)).toBe(at);
  patient.answer(REFUSED);
  expect(nextBeatAt(patient.beat)).toBe(patient.mono + patient.nextIn);
  patient.tell({ type: 'beat-now' });
  expect(nextBeatAt(patient.beat)).toBe(at + 1000);
});

test('of an overdue attempt the one that takes its place is expected', () => {
  const patient = new Patient({ ttl: 60_000 }).begun();
  const { at } = patient.nextAttempt();
  patient.pass(3000);
  expect(patient.beat.inFlight).toHaveLength(1);
  expect(nextBeatAt(patient.beat)).toBe(at + 3000 + 1000);
});

test('an acknowledged beat is as old as it says since it left, in elapsed time', () => {
  const patient = new Patient({ ttl: 60_000 }).begun();
  expect(ageOf(patient.beat, patient.mono)).toBe(50);
  patient.pass(949);
  expect(ageOf(patient.beat, patient.mono)).toBe(999);
  expect(wasJustReached(patient.beat, patient.mono)).toBe(true);
  patient.pass(1);
  expect(wasJustReached(patient.beat, patient.mono)).toBe(false);
  patient.wall += 1500; // a suspend that no alarm is worth
  patient.tell({ type: 'wake', room: false });
  expect(ageOf(patient.beat, patient.mono)).toBe(2500);
});

const START = { mono: 7_000, wall: 5_000_000 };
const NONE = { offset: START.wall - START.mono, hidden: 0 };
const later = (mono: number, wall: number) => ({ mono: START.mono + mono, wall: START.wall + wall });

test('what the wall clock slips back shows nothing, and what it makes good again counts unless it was rounding', () => {
  expect(withDrift(NONE, later(1_000, 950))).toBe(NONE);
  const back = withDrift(NONE, later(1_000, 949));
  expect(back.hidden).toBe(0);
  expect(driftSince(back, later(1_000, 949))).toBe(0);
  expect(withDrift(back, later(2_000, 2_000)).hidden).toBe(51);
});
