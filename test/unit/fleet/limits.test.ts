/** The watch on virtual time, of a service that refuses what comes too soon. */
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryHistory } from '../../../src/fleet/history/places/memory-history.ts';
import type { Throttle } from '../../../src/fleet/pace.ts';
import { FleetWatch } from '../../../src/fleet/watch.ts';
import { VirtualClock } from '../../support/log-time.ts';

const SECOND = 1_000;
const HOUR = 3_600;
/** What a test lasts, s. */
const LASTS = HOUR / 2;

class Throttled extends Error {
  readonly throttle: Throttle;
  constructor(throttle: Partial<Throttle>) {
    super('API requests too frequent');
    this.throttle = { waitMs: undefined, thresholdMs: undefined, ...throttle };
  }
}

class SteppedClock extends VirtualClock {
  shiftMs = 0;
  override now(): number {
    return super.now() + this.shiftMs;
  }
}

/** True time goes by the virtual clock, whatever the watch is told that it is. */
class World {
  readonly clock = new SteppedClock();
  readonly #begin = this.clock.now();
  /** Seconds from the beginning: answers by endpoint, and refusals. */
  readonly answered = new Map<number, number[]>();
  readonly refused: number[] = [];
  #last = -Infinity;
  watch!: FleetWatch;
  /** Whether the service counts from a question that it refused, too. */
  countsRefused = false;

  /** Why it refuses a question, the one before having been counted so long before. */
  refuse: (id: number, sinceMs: number) => Throttled | undefined = () => undefined;

  async start(endpoints: number): Promise<this> {
    const ids = Array.from({ length: endpoints }, (_, index) => index + 1);
    let seed = 1;
    this.watch = new FleetWatch({
      wanted: [{ by: 'all' }],
      intervalMs: 15 * SECOND,
      groups: [],
      service: {
        endpoints: () =>
          Promise.resolve({
            endpoints: ids.map((id) => ({ id, endpoint_name: `e${id}` })),
            unreadable: 0,
          }),
        workers: (id) => this.#answer(id),
        throttleOf: (error) => (error instanceof Throttled ? error.throttle : undefined),
        prices: { known: () => new Map(), refresh() {} },
      },
      store: new MemoryHistory(),
      onEvent() {},
      notice() {},
      clock: this.clock,
      random: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647,
    });
    await this.watch.start();
    started.push(this.watch);
    return this;
  }

  pass(seconds: number): Promise<void> {
    return this.clock.advance(seconds * SECOND);
  }

  get trueMs(): number {
    return this.clock.now() - this.clock.shiftMs;
  }

  /** From a moment on, s: answers to all, and the longest that an endpoint had none, the one that is going on included. */
  since(from: number): { readonly answers: number; readonly refusals: number; readonly hole: number } {
    const now = (this.trueMs - this.#begin) / SECOND;
    const each = [...this.answered.values()].map((times) => times.filter((at) => at >= from));
    const holes = each.flatMap((times) =>
      [...times, now].map((at, index) => at - (times[index - 1] ?? from)),
    );
    return {
      answers: each.reduce((sum, { length }) => sum + length, 0),
      refusals: this.refused.filter((at) => at >= from).length,
      hole: Math.max(...holes),
    };
  }

  #answer(id: number) {
    const now = this.trueMs;
    const at = (now - this.#begin) / SECOND;
    const error = this.refuse(id, now - this.#last);
    if (error) {
      if (this.countsRefused) this.#last = now;
      this.refused.push(at);
      return Promise.reject(error);
    }
    this.#last = now;
    this.answered.set(id, [...(this.answered.get(id) ?? []), at]);
    return Promise.resolve({ workers: [], unreadable: 0 });
  }
}

const started: FleetWatch[] = [];
afterEach(async () => {
  for (const watch of started.splice(0)) await watch.stop();
});

const threshold =
  (seconds: number, isNamed: boolean) =>
  (_: number, sinceMs: number): Throttled | undefined =>
    sinceMs < seconds * SECOND ? new Throttled(isNamed ? { thresholdMs: seconds * SECOND } : {}) : undefined;

describe('a limit that is named', () => {
  test.each([10, 120, 300])('is kept from then on, and %i endpoints are seen in turn', async (endpoints) => {
    const world = new World();
    world.refuse = threshold(3, true);
    await world.start(endpoints);
    await world.pass(LASTS);
    expect(world.answered.size).toBe(endpoints);
    const { answers, refusals, hole } = world.since(0);
    expect(refusals).toBe(1);
    expect(answers).toBeGreaterThan(0.94 * (LASTS / 3));
    // All of them once, and what the beat of each takes off.
    expect(hole).toBeLessThan(endpoints * 3 * 1.05 + 2 * 15);
  });

  test('and asks to wait is waited for', async () => {
    const world = await new World().start(1);
    await world.pass(16);
    world.refuse = () => new Throttled({ waitMs: 120_000 });
    await world.pass(15);
    world.refuse = () => undefined;
    await world.pass(200);
    expect(world.refused).toHaveLength(1);
    expect(world.since(0).hole).toBeGreaterThanOrEqual(120);
  });

  test('holds where the clock is set back, which costs one wait', async () => {
    const world = new World();
    world.refuse = threshold(3, true);
    await world.start(20);
    await world.pass(300);
    world.clock.shiftMs = -HOUR * SECOND;
    await world.pass(600);
    expect(world.since(300)).toMatchObject({ refusals: 0 });
    expect(world.since(300).hole).toBeLessThan(100);
  });
});

describe('a limit that is not named', () => {
  test.each([
    [20, 3, false],
    [20, 3, true],
    [120, 2, false],
    [40, 0.7, false],
  ])(
    'is found: %i endpoints at one look every %f s, refused ones counted: %o',
    async (endpoints, seconds, all) => {
      const world = new World();
      world.countsRefused = all;
      world.refuse = threshold(seconds, false);
      await world.start(endpoints);
      await world.pass(LASTS);
      const { answers, refusals, hole } = world.since(0);
      expect(answers).toBeGreaterThan(0.9 * Math.min(LASTS / seconds, (LASTS / 15) * endpoints));
      expect(refusals).toBeLessThan(25);
      expect(hole).toBeLessThan(endpoints * seconds * 1.1 + 2 * 15 + 30);
    },
  );

  test('is found again where it grows, and where it goes away', async () => {
    const world = new World();
    world.refuse = threshold(1, false);
    await world.start(60);
    await world.pass(600);
    world.refuse = threshold(5, false);
    await world.pass(1_200);
    expect(world.since(900).answers).toBeGreaterThan(0.9 * (900 / 5));
    expect(world.since(900).refusals).toBeLessThan(10);
    world.refuse = () => undefined;
    await world.pass(1_200);
    expect(world.since(2_700)).toMatchObject({ answers: 60 * 20, refusals: 0 });
  });

  test.each([2, 5, 20])(
    'of one of %i endpoints is no reason to look at the others more rarely',
    async (endpoints) => {
      const world = new World();
      world.refuse = (id) => (id === 1 ? new Throttled({}) : undefined);
      await world.start(endpoints);
      await world.pass(LASTS);
      const looks = [...world.answered.values()].map(({ length }) => length);
      expect(Math.min(...looks)).toBeGreaterThan(0.97 * (LASTS / 15));
      expect(world.since(60).hole).toBeLessThan(35);
    },
  );
});
