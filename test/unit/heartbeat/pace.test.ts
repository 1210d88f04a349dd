import { describe, expect, it } from 'vitest';
import { Pace } from '../../../src/heartbeat/pace.ts';
import type { Outcome } from '../../../src/heartbeat/outcome.ts';

const ACCEPTED: Outcome = { type: 'accepted' };
const THROTTLED: Outcome = { type: 'throttled' };
const CEILING = (): number => 10_000;

/** One attempt after another, each answered at once; the deployments take turns. */
function run(pace: Pace, steps: readonly (readonly [id: number, at: number, outcome: Outcome])[]): void {
  const before = new Map<number, number>();
  for (const [id, at, outcome] of steps) {
    const distance = pace.sent(id, at, before.get(id) ?? -Infinity);
    before.set(id, at);
    pace.settled(outcome, distance, CEILING, at);
  }
}

describe('the pace of many deployments', () => {
  it('is free while nothing is refused', () => {
    const pace = new Pace();
    run(pace, [
      [1, 0, ACCEPTED],
      [2, 0, ACCEPTED],
    ]);
    expect(pace.gap).toBe(0);
    expect(pace.nextAt).toBe(-Infinity);
  });

  it('keeps a little more than the gap that the service names, when another deployment was too near', () => {
    const pace = new Pace();
    run(pace, [
      [1, 0, ACCEPTED],
      [2, 500, { type: 'throttled', thresholdMs: 2000 }],
    ]);
    expect(pace.gap).toBeCloseTo(2200);
    expect(pace.nextAt).toBeCloseTo(2700);
  });

  it('finds a gap that the service does not name, and settles just above it', () => {
    const pace = new Pace();
    const limit = 2000;
    let now = 0;
    let accepted = -Infinity;
    let refused = 0;
    for (let turn = 0; turn < 500; turn += 1) {
      now = Math.max(now + 10, pace.nextAt);
      const outcome: Outcome = now - accepted < limit ? THROTTLED : ACCEPTED;
      if (outcome === ACCEPTED) accepted = now;
      else if (turn > 100) refused += 1;
      pace.settled(outcome, pace.sent(turn % 5, now, now - 60_000), CEILING, now);
    }
    expect(pace.gap).toBeGreaterThan(limit);
    expect(pace.gap).toBeLessThan(1.3 * limit);
    expect(refused).toBeLessThan(3);
  });

  it('is not slowed by a limit that is each deployment’s own', () => {
    const pace = new Pace();
    run(pace, [
      [1, 0, ACCEPTED],
      [2, 10, ACCEPTED],
      [1, 500, { type: 'throttled', thresholdMs: 2000 }],
    ]);
    expect(pace.gap).toBe(0);
  });

  it('is not slowed by refusals at a distance at which others were accepted', () => {
    const pace = new Pace();
    run(pace, [
      [1, 0, ACCEPTED],
      [2, 10, ACCEPTED],
      [1, 60_000, THROTTLED],
      [2, 60_500, THROTTLED],
    ]);
    expect(pace.gap).toBe(0);
  });

  it('is free again when a kept gap does not help', () => {
    const pace = new Pace();
    run(pace, [
      [1, 0, ACCEPTED],
      [2, 500, THROTTLED],
    ]);
    expect(pace.gap).toBeGreaterThan(0);
    for (let turn = 0; turn < 10; turn += 1) {
      const at = 10_000 + turn * 7000;
      pace.settled(THROTTLED, { id: turn % 2, at, own: 14_000, others: 7000 }, CEILING, at);
    }
    expect(pace.gap).toBe(0);
  });

  it('is free while the service does not answer, and remembers the gap for when it does', () => {
    const pace = new Pace();
    run(pace, [
      [1, 0, ACCEPTED],
      [2, 500, { type: 'throttled', thresholdMs: 2000 }],
    ]);
    pace.overdue();
    expect(pace.gap).toBe(0);
    run(pace, [[1, 90_000, ACCEPTED]]);
    expect(pace.gap).toBeGreaterThan(2000);
  });
});
