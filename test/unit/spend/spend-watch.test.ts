/** What endpoints cost, as the watch counts it: on virtual time, with a real history. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Charge } from '../../../src/contract/operations/spend.ts';
import { History } from '../../../src/fleet/history/history.ts';
import { NOTHING_MEASURED, type FleetSample, type Price } from '../../../src/fleet/workers/measure.ts';
import { spentOn } from '../../../src/spend/hours.ts';
import { SpendWatch } from '../../../src/spend/spend-watch.ts';
import { VirtualClock } from '../../support/log-time.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Saturday. */
const NOON = Date.parse('2026-11-28T12:00:00Z');

class World implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly history: History;
  readonly watch: SpendWatch;
  readonly prices = new Map<number, Price>();
  readonly unanswered: string[] = [];
  readonly charges = new Map<string, readonly Charge[]>();
  /** Of a day without charges. */
  nothing: () => readonly Charge[] | undefined = () => [];
  listedAtMs: number | undefined;
  wantsAll = false;
  told: () => ReadonlyMap<number, number | null> = () => new Map([[31, 2]]);
  asked = 0;

  constructor(atMs: number, directory?: string) {
    this.clock = new VirtualClock(atMs);
    const kept = () => ({ lives: [], starts: new Map(), known: undefined, ledger: this.watch.ledger });
    this.history = new History({ directory, clock: this.clock, kept, notice() {} });
    this.watch = new SpendWatch({
      service: {
        told: async () => {
          this.asked += 1;
          return this.told();
        },
        charges: async (day) => this.charges.get(day) ?? this.nothing(),
        howRefused: () => 'permission',
      },
      prices: { known: () => this.prices, listedAtMs: () => this.listedAtMs },
      history: this.history,
      intervalMs: () => 15_000,
      wantsAll: () => this.wantsAll,
      onUnanswered: ({ permission }) => void this.unanswered.push(permission),
      clock: this.clock,
    });
  }

  async begin(): Promise<void> {
    this.watch.start((await this.history.open())?.ledger);
    await this.clock.advance(1);
  }

  /** Samples every minute. */
  see(fromMs: number, toMs: number, measures: Partial<FleetSample['measures']>, label = 'chat'): void {
    for (let atMs = fromMs; atMs < toMs; atMs += MINUTE) {
      const sample = { atMs, measures: { ...NOTHING_MEASURED, ...measures }, workers: { idle: 2 } };
      this.history.record({ sample: [label, sample] });
    }
  }

  /** Time for hours to be counted. */
  async counted(): Promise<void> {
    await othersTurns();
    await this.clock.advance(MINUTE);
    await othersTurns();
  }

  today(label = 'chat') {
    return this.watch.view().endpoints.get(label)?.today;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watch.stop();
    await this.history.stop();
  }
}

/** Hours are read a day at a time, and others have their turn between. */
async function othersTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
}

let world: World;
afterEach(() => world[Symbol.asyncDispose]());

const ESTIMATED = {
  spend_per_hour: 3,
  spend_idle_per_hour: 1,
  spend_starting_per_hour: 0,
  spend_stopped_per_hour: 0,
};

describe('today', () => {
  test('is what was told, over the time that each sample stood; a hole costs nothing', async () => {
    world = new World(NOON);
    world.see(NOON - 4 * HOUR, NOON - 3 * HOUR, { ...ESTIMATED, spend_told_per_hour: 2 });
    world.see(NOON - HOUR, NOON, { ...ESTIMATED, spend_told_per_hour: 2 });
    await world.begin();
    await world.counted();
    const { dollars, source } = world.today() ?? {};
    expect(source).toBe('told');
    // The last sample before the hole stands for five minutes, and not for one.
    expect(dollars).toBeCloseTo(4 + 2 * (4 / 60) + 2 / 60, 3);
  });

  test('is estimated where nothing was told, also if a price was lacking for a moment', async () => {
    world = new World(NOON);
    world.see(NOON - HOUR, NOON - 30 * MINUTE, ESTIMATED);
    world.see(NOON - 30 * MINUTE, NOON - 28 * MINUTE, {});
    world.see(NOON - 28 * MINUTE, NOON, ESTIMATED);
    await world.begin();
    await world.counted();
    expect(world.today()).toEqual({ dollars: expect.closeTo(3 + 3 / 60, 3) as number, source: 'estimated' });
  });

  test('survives a restart, with the names of endpoints that are gone', async () => {
    using folder = temporaryFolder();
    world = new World(NOON, folder.path);
    await world.begin();
    world.watch.watches(31, 'chat');
    world.see(NOON - HOUR, NOON, ESTIMATED);
    world.watch.saw([], [501]);
    await world[Symbol.asyncDispose]();
    world = new World(NOON, folder.path);
    world.charges.set('2026-11-27', [{ amount: 7, metadata: { endpoint_id: 31 } }]);
    await world.begin();
    await world.counted();
    expect(world.today()?.dollars).toBeCloseTo(3 + 3 / 60, 3);
    const [chat] = await world.watch.spends();
    expect([chat?.endpoint, chat?.id, chat?.billed.get('2026-11-27')?.total]).toEqual(['chat', 31, 7]);
    expect(world.watch.ledger.former).toEqual([[501, NOON + 1]]);
  });

  test.each([
    [3, expect.closeTo(12 * 3, 0)],
    [2, undefined],
  ])('is compared with the same hours of at least three days that were seen: %i', async (count, usual) => {
    world = new World(NOON);
    for (const [daysAgo, rate] of [1, 1, 2, 6].slice(0, count + 1).entries())
      world.see(NOON - daysAgo * DAY - 12 * HOUR, NOON - daysAgo * DAY + (daysAgo > 0 ? 4 * HOUR : 0), {
        spend_told_per_hour: rate,
      });
    await world.begin();
    await world.counted();
    const { usualToday } = world.watch.view().endpoints.get('chat') ?? {};
    expect(usualToday).toEqual(usual);
  });
});

describe('the bill', () => {
  test('counts for today if it is more than was seen, and does not compare with what is usual then', async () => {
    world = new World(NOON);
    for (const daysAgo of [0, 1, 2, 3])
      world.see(NOON - daysAgo * DAY - 12 * HOUR, NOON - daysAgo * DAY, { spend_told_per_hour: 2 });
    world.charges.set('2026-11-28', [{ amount: 30, metadata: { endpoint_id: 31 } }]);
    world.watch.watches(31, 'chat');
    await world.begin();
    await world.counted();
    const { today, usualToday } = world.watch.view().endpoints.get('chat') ?? {};
    expect([today, usualToday]).toEqual([{ dollars: 30, source: 'billed' }, undefined]);
  });

  test('counts for a day that is over; what is of other endpoints belongs to it if all are wanted', async () => {
    world = new World(NOON);
    world.see(NOON - DAY, NOON - DAY + HOUR, { spend_told_per_hour: 2 });
    world.charges.set('2026-11-27', [
      { amount: 2.5, metadata: { endpoint_id: 31 } },
      { amount: 9, metadata: { endpoint_id: 99 } },
      { amount: 1 },
    ]);
    world.watch.watches(31, 'chat');
    await world.begin();
    await world.counted();
    expect(world.watch.view().month?.soFar).toEqual({ dollars: 2.5, source: 'billed' });
    world.wantsAll = true;
    // Nobody knows whose the last one is, so of that day nothing is known to be free.
    const days = (await world.watch.spends()).map(({ endpoint, billed }) => [endpoint, billed.size]);
    expect(Object.fromEntries(days)).toEqual({ chat: 40, '#99': 40, 'not told': 1 });
  });

  test('or what was seen make a day whole, of one endpoint or another: a forecast goes by those', async () => {
    world = new World(NOON);
    world.nothing = () => undefined;
    world.charges.set('2026-11-24', []);
    world.see(NOON - 3.5 * DAY, NOON, { spend_told_per_hour: 2 });
    world.see(NOON - DAY, NOON - 23 * HOUR, { spend_told_per_hour: 1 }, 'embed');
    await world.begin();
    await world.counted();
    const { soFar, unknownDays, forecast } = world.watch.view().month ?? {};
    expect(soFar).toEqual({ dollars: expect.closeTo(2 * 84 + 1, 0) as number, source: 'told' });
    // Of 27 days four are known. What comes is like the two after the first.
    expect([unknownDays, forecast?.days]).toEqual([23, 2]);
    expect(forecast?.expected).toBeCloseTo(169 + 2.5 * 48.5, 0);
  });
});

test('what was billed before a day was over is not all of that day', async () => {
  world = new World(NOON);
  world.see(NOON, NOON + 11 * HOUR, { spend_told_per_hour: 2 });
  world.charges.set('2026-11-28', [{ amount: 5, metadata: { endpoint_id: 31 } }]);
  world.watch.watches(31, 'chat');
  await world.begin();
  await world.clock.advance(12 * HOUR + MINUTE);
  await world.counted();
  const [spend] = await world.watch.spends();
  expect(spend && spentOn(spend, '2026-11-28', '2026-11-29')).toMatchObject({ source: 'told' });
  world.charges.set('2026-11-28', [{ amount: 60, metadata: { endpoint_id: 31 } }]);
  await world.clock.advance(7 * HOUR);
  const [late] = await world.watch.spends();
  expect(late?.billed.get('2026-11-28')?.total).toBe(60);
});

test('a permission that is missing is named once, asked for again after an hour, and costs nothing else', async () => {
  world = new World(NOON);
  world.told = () => {
    throw new Error('not permitted');
  };
  world.nothing = world.told as () => never;
  world.see(NOON - HOUR, NOON, ESTIMATED);
  await world.begin();
  await world.counted();
  const lacking = ['user_read', 'billing_read'].map((permission) => ({ permission, isMissing: true }));
  expect(world.watch.view().unanswered).toMatchObject(lacking);
  expect(world.today()?.source).toBe('estimated');
  await world.clock.advance(50 * MINUTE);
  expect(world.asked).toBe(1);
  world.told = () => new Map([[31, 4]]);
  world.nothing = () => [];
  await world.clock.advance(10 * MINUTE);
  expect(world.watch.view().unanswered).toEqual([]);
  expect(world.watch.toldFor(31)).toBe(4);
  expect(world.unanswered).toEqual(['user_read', 'billing_read']);
});

describe('orphans', () => {
  test('are instances that are listed minutes after their worker has gone', async () => {
    world = new World(NOON);
    world.prices.set(501, { running: 0.4, storage: 0.1, now: 0.1 }).set(502, { running: 0.4, storage: 0.1 });
    await world.begin();
    expect(world.watch.view().orphans).toBeUndefined();
    world.listedAtMs = NOON;
    expect(world.watch.view().orphans).toEqual({ instances: 0, spendPerHour: 0 });
    world.watch.saw([{ id: 502 }], [501]);
    world.listedAtMs = NOON + 4 * MINUTE;
    expect(world.watch.view().orphans?.instances).toBe(0);
    world.listedAtMs = NOON + 6 * MINUTE;
    expect(world.watch.view().orphans).toEqual({ instances: 1, spendPerHour: 0.1 });
    world.watch.saw([], [502]);
    world.listedAtMs = NOON + 12 * MINUTE;
    expect(world.watch.view().orphans).toEqual({ instances: 2, spendPerHour: undefined });
  });

  test('are none once the worker is back, or the instance is gone', async () => {
    world = new World(NOON);
    world.prices.set(501, { running: 0.4, storage: 0.1, now: 0.4 }).set(502, { running: 0.4, storage: 0.1 });
    await world.begin();
    world.watch.saw([], [501, 502]);
    world.listedAtMs = NOON + 6 * MINUTE;
    world.prices.delete(502);
    world.watch.saw([{ id: 501 }], []);
    expect(world.watch.view().orphans?.instances).toBe(0);
    expect(world.watch.ledger.former).toEqual([]);
    // A list of before says nothing of one that has gone since.
    world.listedAtMs = NOON;
    world.watch.saw([], [503]);
    world.watch.saw([], []);
    expect(world.watch.ledger.former).toHaveLength(1);
    await world.counted();
    expect(world.watch.view().month).toBeUndefined();
  });
});
