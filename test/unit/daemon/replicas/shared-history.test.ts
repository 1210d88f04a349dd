/** Each step alone, on a Redis in memory; test/integration/daemon/fleet-replicas.test.ts has a real one. */
import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { LeaseLost, StaleVersion } from '../../../../src/daemon/replicas/fenced-commit.ts';
import { SharedHistory } from '../../../../src/daemon/replicas/shared-history.ts';
import { unreadTo, type Unread } from '../../../../src/daemon/replicas/unread.ts';
import { SharedKeys } from '../../../../src/daemon/replicas/shared-keys.ts';
import { rowOf, stretched, type StepRow } from '../../../../src/fleet/history/fold.ts';
import { STARTS_KEPT, type StartRecord, type Write } from '../../../../src/fleet/history/store.ts';
import { KEPT_MS } from '../../../../src/fleet/history/tiers.ts';
import type { WorkerLife } from '../../../../src/fleet/workers/lives.ts';
import { NEVER_STEERED } from '../../../../src/scaling/autotune/state.ts';
import { MemoryRedis } from '../../../support/memory-redis.ts';
import { sampleAt } from '../../../support/recorded-fleet.ts';
import { changeOf } from '../../../support/steering.ts';

const KEYS = new SharedKeys('pilotlight', 'test');
const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 5, 1);

const row = (atMs: number, load = 1): StepRow => rowOf(sampleAt(atMs, { load }));
const loadsOf = (rows: readonly StepRow[]): number[] => rows.map(({ measures }) => measures.load.sum / 1_000);
const life = (id: number): WorkerLife => ({
  id,
  endpoint: 'chat',
  firstSeenMs: NOW,
  changes: [['idle', NOW]],
  start: undefined,
  perf: undefined,
  missed: 0,
  missingSinceMs: undefined,
});
const start = (atMs: number): StartRecord => ({ endpoint: 'chat', atMs, from: 'new', seconds: 30, perf: 5 });

let redis: MemoryRedis;
let own: SharedHistory;
beforeEach(async () => {
  redis = new MemoryRedis();
  redis.values.set(KEYS.lease, 'own');
  own = historyOf('own');
  await own.open();
});

function historyOf(token: string, onUnread?: (unread: Unread) => void): SharedHistory {
  return new SharedHistory({ redis, keys: KEYS, token, now: () => NOW, onUnread });
}

function write(over: Partial<Write> = {}): Write {
  return { label: 'chat', rows: [], lives: [], gone: [], starts: [], ...over } as Write;
}

const put = (...writes: readonly Partial<Write>[]): Promise<void> =>
  own.write(
    writes.map((one) => write(one)),
    NOW,
  );

test('it is open between its opening and its end, and writes nothing else', async () => {
  const other = historyOf('own');
  expect(other.isOpen).toBe(false);
  await expect(other.write([write()], NOW)).rejects.toThrow('what Redis has is not known');
  expect(await other.open()).toEqual({
    isOthers: false,
    endpoints: [],
    lives: [],
    starts: [],
    known: [],
    steering: [],
  });
  expect([other.isOpen, other.kind]).toEqual([true, 'redis']);
  other.close();
  expect(other.isOpen).toBe(false);
});

test('what was written is what the next one opens', async () => {
  const inForce = { parameters: { target_util: 0.9 }, sinceMs: NOW - 3 };
  const open = [stretched(row(NOW), HOUR)];
  const state = { label: 'chat', sinceMs: NOW - 5, lastMs: NOW, open, inForce };
  const known = [{ id: 31, name: 'chat', label: 'chat' }];
  await put({ state, lives: [life(1), life(2)], starts: [start(NOW)], known });
  await put({ gone: [1] });
  expect(await historyOf('own').open()).toEqual({
    isOthers: false,
    endpoints: [state],
    lives: [life(2)],
    starts: [start(NOW)],
    known,
    steering: [],
  });
  await put({ gone: 'all', lives: [life(3)] });
  expect((await historyOf('own').open()).lives).toEqual([life(3)]);
});

test('of starts the last ones are kept, for as long as the hours', async () => {
  await put({ state: { label: 'chat', sinceMs: 0, lastMs: 0, open: [], inForce: undefined } });
  await put({ starts: Array.from({ length: STARTS_KEPT + 1 }, (_, at) => start(at)) });
  const { starts } = await historyOf('own').open();
  expect([starts.length, starts[0]?.atMs]).toEqual([STARTS_KEPT, 1]);
  expect(redis.lifetimes.get(KEYS.fleetStarts('chat'))).toBe(KEPT_MS.hour);
});

describe('another replica', () => {
  test.each([1, 2])(
    'that has written %i times since is known, and nothing is written before that is read',
    async (times) => {
      await put({ rows: [row(NOW)] });
      redis.values.set(KEYS.lease, 'another');
      const another = historyOf('another');
      await another.open();
      for (let time = 0; time < times; time += 1) await another.write([write()], NOW);
      await expect(put({})).rejects.toBeInstanceOf(LeaseLost);
      expect(own.isOpen).toBe(true);
      redis.values.set(KEYS.lease, 'own');
      await expect(put({})).rejects.toBeInstanceOf(StaleVersion);
      expect(own.isOpen).toBe(false);
      expect((await own.open()).isOthers).toBe(true);
      expect((await own.open()).isOthers).toBe(false);
      await put({});
    },
  );

  test('adds what it has seen beside it', async () => {
    await put({ rows: [row(NOW, 2)] });
    await historyOf('nobody').add('chat', [row(NOW, 3), row(NOW + 1, 4)], NOW);
    expect(loadsOf(await own.read('chat', 'sample', 0, Infinity))).toEqual([5, 4]);
  });
});

describe('rows', () => {
  test('are read in their order, from the first moment on and before the last', async () => {
    await put(
      { rows: [row(NOW - 10, 1), row(NOW - HOUR, 2)] },
      { rows: [row(NOW, 3), row(NOW - 2 * HOUR, 4)] },
    );
    const read = async (fromMs: number, toMs: number): Promise<number[]> =>
      loadsOf(await own.read('chat', 'sample', fromMs, toMs));
    expect(await read(0, Infinity)).toEqual([4, 2, 1, 3]);
    expect(await read(NOW - HOUR, NOW)).toEqual([2, 1]);
    expect(await read(NOW - HOUR + 1, NOW + 1)).toEqual([1, 3]);
    expect(await read(NOW + 2 * HOUR, Infinity)).toEqual([]);
    expect(await own.read('other', 'sample', 0, Infinity)).toEqual([]);
    expect(await own.read('chat', 'minute', 0, Infinity)).toEqual([]);
  });

  test.each([
    ['sample', HOUR, 0],
    ['minute', 24 * HOUR, 60_000],
    ['hour', 30 * 24 * HOUR, HOUR],
  ] as const)(
    'of a %s live until the last of their stretch is too old',
    async (tier, stretchMs, lengthMs) => {
      const one = lengthMs === 0 ? row(NOW) : stretched(row(NOW), lengthMs);
      await put({ rows: [one] });
      const stretch = Math.floor(NOW / stretchMs);
      const key = KEYS.fleetRows('chat', tier, stretch);
      expect(redis.lifetimes.get(key)).toBe((stretch + 1) * stretchMs + KEPT_MS[tier] - NOW);
      expect(await own.read('chat', tier, NOW, NOW + 1)).toEqual([one]);
      // Of a clock that was far behind: Redis would take no time below 1.
      await own.write([write({ rows: [one] })], NOW + 2 * KEPT_MS.hour);
      expect(redis.lifetimes.get(key)).toBe(1);
    },
  );
});

test('of steering the last change is its state, and each one in the journal', async () => {
  const change = (id: number) => changeOf({ id, atMs: NOW, setMs: NOW });
  await put({ steering: { label: 'chat', state: NEVER_STEERED } });
  expect(await own.journal('chat', 5)).toEqual([]);
  for (const id of [10, 2, 1502])
    await put({ steering: { label: 'chat', state: { ...NEVER_STEERED, change: change(id) } } });
  // The second has gone when there were fifteen hundred more.
  expect((await own.journal('chat', 5)).map(({ id }) => id)).toEqual([10, 1502]);
  expect((await own.journal('chat', 1)).map(({ id }) => id)).toEqual([1502]);
  const { steering } = await historyOf('own').open();
  expect(steering).toMatchObject([{ label: 'chat', state: { change: { id: 1502 } } }]);
});

describe('what was read is current', () => {
  test('while this replica holds the lease, and nobody else has written', async () => {
    expect(await historyOf('own').isCurrent()).toBe(false);
    expect(await own.isCurrent()).toBe(true);
    await put({ rows: [row(NOW)] });
    expect(await own.isCurrent()).toBe(true);
    redis.values.set(KEYS.lease, 'another');
    expect([await own.isCurrent(), own.isOpen]).toEqual([false, true]);
    redis.values.set(KEYS.lease, 'own');
    expect(await own.isCurrent()).toBe(true);
  });

  test('also before its own first commit', async () => {
    await put({ rows: [row(NOW)] });
    const next = historyOf('next');
    await next.open();
    redis.values.set(KEYS.lease, 'next');
    expect(await next.isCurrent()).toBe(true);
  });

  test('no more once another has written: it is to be read anew', async () => {
    await put({ rows: [row(NOW)] });
    redis.values.set(KEYS.lease, 'another');
    const another = historyOf('another');
    await another.open();
    await another.write([write()], NOW);
    redis.values.set(KEYS.lease, 'own');
    expect([await own.isCurrent(), own.isOpen]).toEqual([false, false]);
    expect((await own.open()).isOthers).toBe(true);
    expect(await own.isCurrent()).toBe(true);
  });
});

describe('what Redis keeps and cannot be read is skipped, and said with its place:', () => {
  const change = changeOf({ phase: 'returning', because: 'load' });
  const state = { ...NEVER_STEERED, baseline: { cold_workers: 4 }, change };
  const endpoint = (label: string) => ({ label, sinceMs: 1, lastMs: 2, open: [], inForce: undefined });
  /** Opened anew with this in the place of a value. */
  async function opened(key: string, ...field: readonly string[]) {
    const known = [{ id: 31, name: 'chat', label: 'chat' }];
    for (const label of ['chat', 'draw'])
      await put({ label, steering: { label, state }, state: endpoint(label), known });
    await redis.command(field.length === 0 ? 'SET' : 'HSET', key, ...field, '{"x":NaN');
    const said: unknown[] = [];
    const lines: Record<string, unknown>[] = [];
    const log = unreadTo(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }));
    const found = await historyOf('own', (unread) => {
      said.push([unread.key, unread.field, unread.of]);
      log(unread);
    }).open();
    return { found, said, lines };
  }

  test('of an endpoint, the others are there', async () => {
    const { found, said } = await opened(KEYS.fleetEndpoints, 'chat');
    expect(found.endpoints).toEqual([endpoint('draw')]);
    expect(found.steering).toHaveLength(2);
    expect(said).toEqual([[KEYS.fleetEndpoints, 'chat', 'endpoint']]);
  });

  test('of how it is steered, its duty is in the journal, and nothing new moves for a day', async () => {
    const { found, said, lines } = await opened(KEYS.fleetSteering, 'chat');
    expect(found.steering).toEqual([
      { label: 'draw', state },
      { label: 'chat', state: { pause: { untilMs: NOW + 24 * HOUR, for: 'a hand' }, change } },
    ]);
    expect(said).toEqual([[KEYS.fleetSteering, 'chat', 'steering that the journal has']]);
    expect(lines).toMatchObject([{ level: 50, key: KEYS.fleetSteering, field: 'chat' }]);
    expect(lines[0]?.['msg']).toContain('from the last change of the journal');
  });

  test('of how it is steered, with no journal either, somebody has to look', async () => {
    const { found, said, lines } = await opened(KEYS.fleetSteering, 'lost');
    expect(found.steering).toHaveLength(3);
    expect(found.steering.at(-1)?.state).toMatchObject({ pause: { untilMs: NOW + 24 * HOUR } });
    expect(found.steering.at(-1)?.state.change).toBeUndefined();
    expect(said).toEqual([[KEYS.fleetSteering, 'lost', 'steering']]);
    expect(lines[0]?.['msg']).toContain('old values have to be put back; compare the parameters');
  });

  test('of names, they are asked for anew', async () => {
    const { found, said } = await opened(KEYS.fleetKnown);
    expect(found.known).toEqual([]);
    expect(found.endpoints).toHaveLength(2);
    expect(said).toEqual([[KEYS.fleetKnown, undefined, 'names']]);
  });
});
