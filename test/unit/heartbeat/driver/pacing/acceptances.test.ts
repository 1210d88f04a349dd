import { expect, test } from 'vitest';
import { Acceptances } from '../../../../../src/heartbeat/driver/pacing/acceptances.ts';

/** Attempts that arrived exactly then. */
function at(...times: readonly number[]): Acceptances {
  const acceptances = new Acceptances();
  for (const [id, time] of times.entries()) acceptances.add(id, { at: time, by: time }, 20);
  return acceptances;
}

test('of none nothing is known', () => {
  const none = new Acceptances();
  expect([none.bound, none.longestDelay, none.boundSince(0), none.delay(50), none.all]).toEqual([
    Infinity,
    0,
    Infinity,
    0,
    [],
  ]);
});

test('what takes longer than the fastest may have arrived so much later', () => {
  const acceptances = new Acceptances();
  for (const latency of [30, 20, 50]) acceptances.add(1, { at: 0, by: 0 }, latency);
  expect([acceptances.delay(60), acceptances.delay(20), acceptances.delay(10)]).toEqual([40, 0, 0]);
  expect(acceptances.longestDelay).toBe(30);
});

test('the limit is no longer than what lay between two, nor than each of several had', () => {
  const acceptances = at(0, 100, 2_000);
  expect(acceptances.all.map(({ bound }) => bound)).toEqual([Infinity, 100, 1_000]);
  expect(acceptances.bound).toBe(100);
  expect([-Infinity, 0, 1, 100, 101].map((since) => acceptances.boundSince(since))).toEqual([
    1_000,
    1_000,
    1_900,
    1_900,
    Infinity,
  ]);
});

test('one that may have arrived late bounds it less', () => {
  const acceptances = at(0);
  expect(acceptances.add(1, { at: 1_000, by: 1_300 }, 20).bound).toBe(1_300);
});

test('one that left before others that were answered first counts from the earliest', () => {
  const acceptances = at(1_000, 3_000);
  expect(acceptances.add(9, { at: 0, by: 4_000 }, 20).bound).toBe(2_000);
});

test('the last 64 are remembered', () => {
  const acceptances = at(...Array.from({ length: 65 }, (_, index) => (index === 0 ? 0 : index * 1_000)));
  expect(acceptances.all).toHaveLength(64);
  expect(acceptances.all[0]?.id).toBe(1);
  expect(at(...Array.from({ length: 64 }, (_, index) => index)).all).toHaveLength(64);
});

test('what refused ones said of them can be taken back, and all be forgotten', () => {
  const acceptances = at(0, 100);
  for (const each of acceptances.all) each.witnesses = 3;
  acceptances.discharge();
  expect(acceptances.all.map(({ witnesses }) => witnesses)).toEqual([0, 0]);
  acceptances.clear();
  expect([acceptances.all, acceptances.bound, acceptances.longestDelay, acceptances.delay(99)]).toEqual([
    [],
    Infinity,
    0,
    0,
  ]);
});
