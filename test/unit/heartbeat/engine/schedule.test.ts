import { expect, test } from 'vitest';
import { finalBeatMs } from '../../../../src/heartbeat/driver/first-and-last.ts';
import { ageOf, nextBeatAt, wasJustReached } from '../../../../src/heartbeat/engine/schedule.ts';
import { Patient, REFUSED } from './patient.ts';

test('the next beat is expected when it is due, not before the spacing, and while one is awaited it is that', () => {
  const patient = new Patient({ ttl: 60_000 }).light();
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
  const patient = new Patient({ ttl: 60_000 }).light();
  const { at } = patient.nextAttempt();
  patient.pass(3000);
  expect(patient.beat.inFlight).toHaveLength(1);
  expect(nextBeatAt(patient.beat)).toBe(at + 3000 + 1000);
});

test('an acknowledged beat is as old as it says since it left, in elapsed time', () => {
  const patient = new Patient({ ttl: 60_000 }).light();
  expect(ageOf(patient.beat, patient.mono)).toBe(50);
  patient.pass(949);
  expect([ageOf(patient.beat, patient.mono), wasJustReached(patient.beat, patient.mono)]).toEqual([
    999,
    true,
  ]);
  patient.pass(1);
  expect(wasJustReached(patient.beat, patient.mono)).toBe(false);
  patient.wall += 1500; // a suspend that no alarm is worth
  patient.tell({ type: 'wake', room: false });
  expect(ageOf(patient.beat, patient.mono)).toBe(2500);
});

test('last beats take as long as the slowest of each batch, and the gap between any two', () => {
  const live = [20_000, 60_000, 60_000].map((ttl) => new Patient({ ttl }).light());
  expect(finalBeatMs(live, 0, 512)).toBe(3000 + 1000);
  expect(finalBeatMs(live, 0, 2)).toBe(2 * 4000);
  expect(finalBeatMs(live, 50, 2)).toBe(2 * 4000 + 3 * 50);
  expect(finalBeatMs([], 50, 2)).toBe(0);
});
