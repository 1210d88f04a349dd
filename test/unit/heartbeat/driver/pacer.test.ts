import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/heartbeat/engine/outcome.ts';
import { Pacer, type Departure } from '../../../../src/heartbeat/driver/pacer.ts';

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

  it('lets a suspicion rest when nothing is refused for a minute', () => {
    const pacer = new Pacer();
    run(pacer, [
      [1, 0, ACCEPTED],
      [2, 500, named(3000)],
    ]);
    expect(pacer.opensAt(61_000)).toBe(-Infinity);
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

  it('adds to the gap where the network brings attempts nearer together, and takes it back', () => {
    const pacer = new Pacer();
    burst(pacer, 0, 6);
    const before = pacer.gap;
    run(pacer, [[7, 10_000, named(3000)]]);
    expect(pacer.gap).toBeGreaterThan(before + 100);
    pacer.widest = 3100;
    expect(pacer.gap).toBe(3100);
    for (let at = 20_000; at < 20_000_000; at += 5000) run(pacer, [[at, at, ACCEPTED]]);
    expect(pacer.gap).toBeCloseTo(before);
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
      expect(pacer.gap).toBe(3061);
      expect(pacer.limit).toBe(2041);
    });

    it('adds only a margin once the guess was enough', () => {
      const pacer = new Pacer();
      burst(pacer, 0, 6, unnamed);
      run(pacer, [
        [7, 10_000, ACCEPTED],
        [8, 12_100, ACCEPTED],
        [9, 14_200, unnamed],
      ]);
      expect(pacer.gap).toBe(2142);
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
