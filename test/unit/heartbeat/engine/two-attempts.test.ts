/** What becomes of a heartbeat with two attempts under way: only the newest says when the next is due. */
import { describe, expect, test } from 'vitest';
import { sendAt, type AttemptOutcome } from '../../../../src/heartbeat/engine/state.ts';
import { ACCEPTED, NOT_FOUND, Patient, REFUSED, UNAUTHORIZED, urgent } from './patient.ts';

/** An overdue attempt, and a new one. */
function overdue(): Patient {
  const patient = new Patient({ ttl: 20_000 }).begun();
  patient.nextAttempt();
  patient.nextAttempt();
  expect(patient.beat.inFlight.map(({ id, overdue: is }) => [id, is])).toEqual([
    [2, true],
    [3, false],
  ]);
  return patient;
}

/** An urgent attempt that is slow, and one beside it. */
function hedged(): Patient {
  const patient = urgent();
  patient.nextAttempt();
  patient.nextAttempt();
  expect(patient.beat.inFlight.map(({ overdue: is }) => is)).toEqual([false, false]);
  return patient;
}

describe('an answer to the older one', () => {
  test.each<[string, AttemptOutcome, string]>([
    ['a failure', REFUSED, 'retrying'],
    ['a refused key', UNAUTHORIZED, 'unauthorized'],
    ['that there is none', NOT_FOUND, 'suspect-gone'],
    ['a wait', { type: 'throttled', retryAfterMs: 3_000 }, 'throttled'],
  ])('that is %s leaves the newer one to say what is next', (_what, outcome, state) => {
    const patient = overdue();
    const { failures } = patient.beat;
    patient.answer(outcome, 2);
    expect(patient.beat).toMatchObject({ dueAt: Infinity, latestAt: Infinity, failures, state });
    expect(sendAt(patient.beat)).toBe(Infinity);
  });

  test('counts as no further failure, where both were in time', () => {
    const patient = hedged();
    const { failures, inFlight } = patient.beat;
    patient.answer(REFUSED, inFlight[0]?.id);
    expect(patient.beat).toMatchObject({ failures, dueAt: Infinity, fresh: true });
    patient.answer(REFUSED, inFlight[1]?.id);
    expect(patient.beat.failures).toBe(failures + 1);
  });

  test('that refuses a key that is old by now changes nothing', () => {
    const patient = overdue();
    patient.tell({ type: 'key', generation: 2 });
    patient.answer(UNAUTHORIZED, 2);
    expect(patient.beat.dueAt).toBe(Infinity);
    expect(patient.told('failed')).toEqual([{ type: 'failed', attempt: 2, reason: 'stale-key' }]);
    patient.answer(UNAUTHORIZED, 3);
    expect(patient.beat.dueAt).toBe(patient.mono);
  });
});

test('one that was counted as failed when it was overdue is not counted again', () => {
  const patient = new Patient({ ttl: 20_000 }).begun();
  const { at } = patient.nextAttempt();
  patient.pass(1_500);
  expect(patient.beat.failures).toBe(1);
  const { dueAt } = patient.beat;
  expect(dueAt).toBe(at + 1_000 + 1_000);
  patient.answer(REFUSED);
  expect(patient.beat).toMatchObject({ failures: 1, dueAt });
});

describe('without a look at the clock in time', () => {
  test('a failure that comes late counts from when it was overdue', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    const { at } = patient.nextAttempt();
    patient.mono += 1_500;
    patient.wall += 1_500;
    patient.answer(REFUSED);
    expect(patient.told('overdue')).toEqual([{ type: 'overdue', attempt: 2 }]);
    expect(patient.beat.dueAt).toBe(at + 1_000 + 1_000);
  });

  test('an acceptance that comes late was never overdue', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    patient.nextAttempt();
    patient.mono += 1_500;
    patient.wall += 1_500;
    patient.answer(ACCEPTED);
    expect(patient.told('overdue')).toEqual([]);
    expect(patient.state).toBe('healthy');
  });
});

test('only the attempt whose place is needed is given up, and only where it is overdue', () => {
  const patient = overdue();
  patient.tell({ type: 'evict', attempt: 3 });
  expect(patient.aborted).toEqual([]);
  patient.tell({ type: 'evict', attempt: 99 });
  expect(patient.aborted).toEqual([]);
  patient.tell({ type: 'evict', attempt: 2 });
  expect(patient.aborted).toEqual([2]);
  expect(patient.told('failed')).toEqual([{ type: 'failed', attempt: 2, reason: 'timeout' }]);
});

test('whoever is overdue when another is accepted has failed, and whoever is not was superseded', () => {
  const late = overdue();
  late.answer(ACCEPTED);
  expect(late.told('failed')).toEqual([{ type: 'failed', attempt: 2, reason: 'timeout' }]);
  expect(late.told('superseded')).toEqual([]);
  const early = overdue();
  early.answer(ACCEPTED, 2);
  expect(early.told('failed')).toEqual([]);
  expect(early.told('superseded')).toEqual([{ type: 'superseded', attempt: 3 }]);
});

test.each(['stop', 'withhold'] as const)(
  '%s supersedes all that are under way, and sends nothing more',
  (type) => {
    const patient = overdue();
    patient.tell({ type });
    expect(patient.aborted).toEqual([2, 3]);
    expect(patient.told('superseded').map(({ attempt }) => attempt)).toEqual([2, 3]);
    expect(patient.told('failed')).toEqual([]);
    patient.tell({ type: 'beat-now' });
    patient.tell({ type: 'wake', room: true });
    patient.pass(100_000);
    expect(patient.sent).toHaveLength(3);
  },
);
