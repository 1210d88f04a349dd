/** What a pacer does with the moments between attempts: the last one's delay, probes, and another key. */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../../src/heartbeat/engine/outcome.ts';
import { Pacer } from '../../../../../src/heartbeat/driver/pacing/pacer.ts';

const ACCEPTED: Outcome = { type: 'accepted' };
const FAILED: Outcome = { type: 'failed', reason: 'connect' };
const NAMED: Outcome = { type: 'throttled', thresholdMs: 3_000 };

/** One whose limit of 3 s is confirmed, by six attempts; 61 ms more are kept. */
function confirmed(): Pacer {
  const pacer = new Pacer();
  const departures = Array.from({ length: 6 }, (_, id) => pacer.sent(id, 0, -Infinity));
  for (const [id, departure] of departures.entries())
    pacer.settled(departure, id === 0 ? ACCEPTED : NAMED, 20);
  expect([pacer.confirmed, pacer.gap]).toEqual([true, 3_061]);
  return pacer;
}

/** So many more attempts, the last of them at 10 minutes, which say nothing of a limit. */
function after(count: number): Pacer {
  const pacer = confirmed();
  for (let number = 1; number <= count; number += 1)
    pacer.settled(pacer.sent(number, number === count ? 600_000 : 20_000, -Infinity), FAILED, 600_010);
  return pacer;
}

describe('a probe', () => {
  it('comes at half the gap, after 512 attempts', () => {
    expect(after(511).opensAt(600_010)).toBe(603_061);
    expect(after(512).opensAt(600_010)).toBe(600_000 + 3_061 / 2);
  });

  it('that was refused is followed by as many as before', () => {
    const pacer = after(512);
    const probe = pacer.sent(999, 601_531, -Infinity);
    pacer.settled(probe, NAMED, 601_551);
    expect(pacer.confirmed).toBe(true);
    expect(pacer.opensAt(601_551)).toBe(601_531 + 3_061);
  });

  it('is none where the gap was kept, so that the next may be one', () => {
    const pacer = after(512);
    pacer.settled(pacer.sent(999, 610_000, -Infinity), ACCEPTED, 610_020);
    expect(pacer.opensAt(610_020)).toBe(610_000 + 3_061 / 2);
  });
});

it('an attempt that was answered late is followed later, also where it was refused', () => {
  const pacer = confirmed();
  pacer.settled(pacer.sent(9, 10_000, -Infinity), NAMED, 10_120);
  expect(pacer.opensAt(10_120)).toBe(10_000 + 3_061 + 100);
});

it('with another key nothing is known', () => {
  const pacer = new Pacer();
  for (const id of [1, 2]) pacer.settled(pacer.sent(id, id, -Infinity), ACCEPTED, 20 + id);
  pacer.forget();
  const departures = Array.from({ length: 6 }, (_, id) => pacer.sent(id, 60_000, -Infinity));
  for (const [id, departure] of departures.entries())
    pacer.settled(departure, id === 0 ? ACCEPTED : { type: 'throttled' }, 60_020);
  expect([pacer.confirmed, pacer.gap]).toEqual([true, 2_041]);
  pacer.forget();
  expect([pacer.confirmed, pacer.gap, pacer.limit, pacer.opensAt(60_100)]).toEqual([
    false,
    0,
    undefined,
    -Infinity,
  ]);
});

it('a neighbour is nearer than the limit, and of another deployment', () => {
  const pacer = new Pacer();
  for (const at of [0, 20_000, 40_000, 60_000]) {
    pacer.settled(pacer.sent(1, at, -Infinity), ACCEPTED, at + 20);
    pacer.settled(pacer.sent(1, at + 2_000, -Infinity), NAMED, at + 2_020);
  }
  expect(pacer.confirmed).toBe(false);
});
