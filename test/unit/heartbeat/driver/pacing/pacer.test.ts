import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../../src/heartbeat/engine/outcome.ts';
import { Pacer, type Departure } from '../../../../../src/heartbeat/driver/pacing/pacer.ts';

const ACCEPTED: Outcome = { type: 'accepted' };
const LATENCY = 20;

function named(thresholdMs: number): Outcome {
  return { type: 'throttled', thresholdMs };
}

/** Attempts one after another, each answered after 20 ms, of deployments that have not beaten for a long time. */
function run(pacer: Pacer, steps: readonly (readonly [id: number, at: number, outcome: Outcome])[]): void {
  for (const [id, at, outcome] of steps)
    pacer.settled(pacer.sent(id, at, at - 60_000), outcome, at + LATENCY);
}

/** So many at one moment: the first is accepted, the others are refused. */
function burst(pacer: Pacer, at: number, count: number, outcome = named(3000)): void {
  const departures: Departure[] = [];
  for (let id = 0; id < count; id += 1) departures.push(pacer.sent(id, at, -Infinity));
  for (const departure of departures)
    pacer.settled(departure, departure.id === 0 ? ACCEPTED : outcome, at + LATENCY);
}

describe('the pacer', () => {
  it('keeps no gap while nothing is refused', () => {
    const pacer = new Pacer();
    run(pacer, [
      [1, 0, ACCEPTED],
      [2, 0, ACCEPTED],
      [3, 1, { type: 'failed', reason: 'server-error' }],
    ]);
    expect(pacer.opensAt(100)).toBe(-Infinity);
    expect(pacer.limit).toBeUndefined();
  });

  it('suspects a limit where an attempt is refused near another one, and keeps its gap without insisting', () => {
    const pacer = new Pacer();
    run(pacer, [
      [1, 0, ACCEPTED],
      [2, 500, named(3000)],
    ]);
    expect(pacer.confirmed).toBe(false);
    expect(pacer.opensAt(600)).toBeGreaterThan(3500);
    expect(pacer.opensAt(600)).toBeLessThan(3600);
  });

  it('lets a suspicion rest when nothing is refused for ten minutes', () => {
    const pacer = new Pacer();
    run(pacer, [
      [1, 0, ACCEPTED],
      [2, 500, named(3000)],
    ]);
    expect(pacer.opensAt(600_000)).toBeGreaterThan(0);
    expect(pacer.opensAt(601_000)).toBe(-Infinity);
  });

  it('takes a limit for confirmed when three accepted ones each had a refused neighbour', () => {
    const pacer = new Pacer();
    for (const at of [0, 20_000, 40_000]) {
      expect(pacer.confirmed).toBe(false);
      run(pacer, [
        [1, at, ACCEPTED],
        [2, at + 500, named(3000)],
      ]);
    }
    expect(pacer.limit).toBe(3000);
  });

  it('takes it for confirmed at once when many begin together', () => {
    const pacer = new Pacer();
    burst(pacer, 0, 256, named(47));
    expect(pacer.limit).toBe(47);
  });

  it('does so in whatever order the answers come', () => {
    const pacer = new Pacer();
    const departures = [0, 1, 2, 3, 4, 5].map((id) => pacer.sent(id, 0, -Infinity));
    for (const departure of departures) {
      const outcome = departure.id === 5 ? ACCEPTED : named(3000);
      pacer.settled(departure, outcome, LATENCY);
    }
    expect(pacer.limit).toBe(3000);
  });

  it('does not suspect a limit that each deployment has for itself', () => {
    const pacer = new Pacer();
    pacer.settled(pacer.sent(1, 0, -Infinity), ACCEPTED, LATENCY);
    pacer.settled(pacer.sent(2, 10, -Infinity), ACCEPTED, 10 + LATENCY);
    pacer.settled(pacer.sent(1, 1000, 0), named(3000), 1000 + LATENCY);
    expect(pacer.gap).toBe(0);
  });

  it('does not suspect one where a neighbour was accepted too', () => {
    const pacer = new Pacer();
    run(pacer, [
      [1, 0, ACCEPTED],
      [2, 10, ACCEPTED],
      [3, 20, named(3000)],
    ]);
    expect(pacer.gap).toBe(0);
  });

  it('does not take a service that refuses everybody for one with a limit', () => {
    const pacer = new Pacer();
    run(pacer, [
      [1, 0, ACCEPTED],
      [2, 500, named(3000)],
      [1, 11_000, named(3000)],
    ]);
    expect(pacer.gap).toBe(0);
  });

  it.each([
    [
      'attempts are accepted nearer than it',
      [
        [8, 10_000, ACCEPTED],
        [9, 10_050, ACCEPTED],
      ],
    ],
    [
      'another one is named',
      [
        [8, 10_000, ACCEPTED],
        [9, 10_050, named(700)],
      ],
    ],
    [
      'four in a row are refused although they kept it',
      [10, 20, 30, 40].map((s) => [8 + s, s * 1000, named(3000)]),
    ],
  ] as [string, [number, number, Outcome][]][])('forgets a confirmed limit when %s', (_what, steps) => {
    const pacer = new Pacer();
    burst(pacer, 0, 6);
    expect(pacer.limit).toBe(3000);
    run(pacer, steps);
    expect(pacer.limit).toBeUndefined();
  });

  it('keeps the longer of two limits that are nearly the same, so that the gap is never a little too short', () => {
    const pacer = new Pacer();
    run(pacer, [
      [1, 0, ACCEPTED],
      [2, 500, named(4481)],
      [3, 1000, named(4684)],
      [4, 1500, named(4600)],
    ]);
    expect(pacer.gap).toBeGreaterThan(4684);
  });

  it('remembers a confirmed limit through an outage', () => {
    const pacer = new Pacer();
    burst(pacer, 0, 6);
    for (let at = 10_000; at < 900_000; at += 1000)
      run(pacer, [[at, at, { type: 'failed', reason: 'connect' }]]);
    expect(pacer.limit).toBe(3000);
  });

  it('waits for as long as the network may have delayed the last attempt, up to half of the limit', () => {
    const pacer = new Pacer();
    burst(pacer, 0, 6);
    const gap = 3061;
    const late = (id: number, at: number, latency: number): void =>
      pacer.settled(pacer.sent(id, at, -Infinity), ACCEPTED, at + latency);
    late(7, 10_000, LATENCY);
    expect(pacer.opensAt(10_020)).toBe(10_000 + gap);
    late(8, 20_000, LATENCY + 400);
    expect(pacer.opensAt(20_420)).toBe(20_000 + gap + 400);
    pacer.sent(9, 30_000, -Infinity); // and is not answered: it may be as late as the latest
    expect(pacer.opensAt(30_000)).toBe(30_000 + gap + 400);
    late(10, 40_000, LATENCY + 2500);
    expect(pacer.opensAt(42_500)).toBe(40_000 + gap + 1500);
    expect(pacer.gap).toBe(gap);
  });

  it('keeps no more than leaves every deployment its turn, but never less than the limit', () => {
    const pacer = new Pacer();
    burst(pacer, 0, 6);
    pacer.widest = 3010;
    expect(pacer.gap).toBe(3010);
    pacer.widest = 2000;
    expect(pacer.gap).toBe(3000);
  });

  it('does not count against a limit what may have been refused for the sake of one that overtook it', () => {
    const pacer = new Pacer();
    burst(pacer, 0, 6);
    for (let at = 10_000; at < 90_000; at += 10_000) {
      const slow = pacer.sent(7, at, -Infinity);
      const fast = pacer.sent(8, at + 300, -Infinity);
      pacer.settled(fast, named(3000), at + 300 + LATENCY);
      pacer.settled(slow, named(3000), at + 500);
    }
    expect(pacer.limit).toBe(3000);
  });

  it('tries now and again whether the limit is still there', () => {
    const pacer = new Pacer();
    burst(pacer, 0, 6);
    let now = 100;
    for (let turn = 0; turn < 600 && pacer.confirmed; turn += 1) {
      now = Math.max(now + LATENCY, pacer.opensAt(now));
      run(pacer, [[100 + turn, now, ACCEPTED]]); // it is not
    }
    expect(pacer.limit).toBeUndefined();
  });

  describe('where no limit is named', () => {
    const unnamed: Outcome = { type: 'throttled' };

    it('confirms a guess of 2 s where many begin together', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, unnamed);
      expect(pacer.confirmed).toBe(true);
      expect(pacer.gap).toBe(2041);
    });

    it('guesses no more at first than leaves each deployment its turn', () => {
      const pacer = new Pacer();
      pacer.widest = 160;
      burst(pacer, 0, 6, unnamed);
      expect(pacer.gap).toBe(160);
    });

    it('begins with what a short Retry-After says, and takes no notice of a long one', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, { type: 'throttled', retryAfterMs: 30_000 });
      expect(pacer.gap).toBe(0);
      burst(pacer, 60_000, 6, { type: 'throttled', retryAfterMs: 5000 });
      expect(pacer.gap).toBe(5101);
    });

    it('grows by half where the gap was kept, and says only then what the limit is at least', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, unnamed);
      expect(pacer.limit).toBeUndefined();
      run(pacer, [[7, 10_000, unnamed]]);
      expect(pacer.gap).toBeCloseTo(1.5 * 2041 * 1.02 + 1, 0);
      expect(pacer.limit).toBe(2041);
    });

    it('lies between what did not do and what was enough', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, unnamed);
      run(pacer, [
        [7, 10_000, ACCEPTED],
        [8, 12_500, ACCEPTED],
        [9, 14_600, unnamed],
      ]);
      expect(pacer.limit).toBe(2041);
      expect(pacer.gap).toBe(2551); // and not 1.5 × 2041
    });

    it('is longer for a while where even what was enough is refused', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, unnamed);
      run(pacer, [
        [7, 10_000, ACCEPTED],
        [8, 11_900, ACCEPTED],
      ]);
      const gap = 1900 * 1.02 + 1;
      expect(pacer.gap).toBe(gap);
      run(pacer, [[9, 14_600, unnamed]]);
      expect(pacer.gap).toBeCloseTo(1.5 * gap * 1.02 + 1);
      run(pacer, [[10, 18_000, ACCEPTED]]);
      expect(pacer.gap).toBe(gap);
    });

    it('knows what it had found out when a failing gateway no longer refuses everybody', () => {
      const pacer = new Pacer();
      run(pacer, [
        [1, 0, ACCEPTED],
        [2, 500, unnamed],
        [3, 2600, unnamed],
        [4, 5800, ACCEPTED],
        [5, 9000, ACCEPTED],
      ]);
      const { gap } = pacer;
      expect(gap).toBeGreaterThan(3000);
      run(pacer, [[6, 60_000, unnamed]]);
      expect(pacer.gap).toBe(0);
      run(pacer, [
        [7, 70_000, ACCEPTED],
        [8, 70_500, unnamed],
      ]);
      expect(pacer.gap).toBe(gap);
    });

    it('begins with what a Retry-After says also where it is less than 2 s', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, { type: 'throttled', retryAfterMs: 1000 });
      expect(pacer.gap).toBe(1021);
      run(pacer, [[7, 10_000, { type: 'throttled', retryAfterMs: 1000 }]]);
      expect(pacer.gap).toBeCloseTo(1.5 * 1021 * 1.02 + 1, 0);
    });

    it('is guessed also where a fault had named another one before', () => {
      const pacer = new Pacer();
      run(pacer, [
        [1, 0, ACCEPTED],
        [2, 500, named(700)],
        [3, 2000, ACCEPTED],
        [4, 2900, { type: 'throttled', retryAfterMs: 3000 }],
      ]);
      expect(pacer.gap).toBeGreaterThan(1500);
    });

    it('takes what was accepted before for a contradiction, and guesses less from then on', () => {
      const pacer = new Pacer();
      run(pacer, [
        [1, 0, ACCEPTED],
        [2, 700, ACCEPTED],
      ]);
      burst(pacer, 60_000, 6, unnamed);
      expect(pacer.gap).toBeLessThan(1400);
    });

    it('gives way to a limit that is named, also beside a Retry-After', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, unnamed);
      burst(pacer, 60_000, 6, { type: 'throttled', thresholdMs: 3000, retryAfterMs: 1000 });
      expect(pacer.limit).toBe(3000);
    });
  });
});
