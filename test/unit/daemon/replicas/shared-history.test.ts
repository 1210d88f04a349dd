/** Each step alone, on a Redis in memory; test/integration/daemon/fleet-replicas.test.ts has a real one. */
import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { LeaseLost, StaleVersion } from '../../../../src/daemon/replicas/fenced-commit.ts';
import { SharedHistory } from '../../../../src/daemon/replicas/shared-history.ts';
import { unreadTo, type Unread } from '../../../../src/daemon/replicas/unread.ts';
import { SharedKeys } from '../../../../src/daemon/replicas/shared-keys.ts';
import { rowOf, stretched, type StepRow } from '../../../../src/fleet/history/fold.ts';
import type { LeftChange } from '../../../../src/fleet/history/left-steering.ts';
import { STARTS_KEPT, type StartRecord, type Write } from '../../../../src/fleet/history/store.ts';
import { KEPT_MS } from '../../../../src/fleet/history/tiers.ts';
import type { WorkerLife } from '../../../../src/fleet/workers/lives.ts';
import { MemoryRedis } from '../../../support/memory-redis.ts';
import { sampleAt } from '../../../support/recorded-fleet.ts';

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
  });
  expect([other.isOpen, other.kind]).toEqual([true, 'redis']);
  other.close();
  expect(other.isOpen).toBe(false);
});

test('what was written is what the next one opens', async () => {
  const open = [stretched(row(NOW), HOUR)];
  const state = { label: 'chat', sinceMs: NOW - 5, lastMs: NOW, open };
  const known = [{ id: 31, name: 'chat', label: 'chat' }];
  await put({ state, lives: [life(1), life(2)], starts: [start(NOW)], known });
  await put({ gone: [1] });
  expect(await historyOf('own').open()).toEqual({
    isOthers: false,
    endpoints: [state],
    lives: [life(2)],
    starts: [start(NOW)],
    known,
  });
  await put({ gone: 'all', lives: [life(3)] });
  expect((await historyOf('own').open()).lives).toEqual([life(3)]);
});

test('of starts the last ones are kept, for as long as the hours', async () => {
  await put({ state: { label: 'chat', sinceMs: 0, lastMs: 0, open: [] } });
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

test('what an earlier version kept of how it steered is told once, by whoever writes, and removed', async () => {
  const change = { id: 2, phase: 'watching', from: { cold_workers: 5 }, to: { cold_workers: 4 } };
  await redis.command('HSET', KEYS.fleetSteering, 'chat', JSON.stringify({ change }));
  await redis.command('HSET', KEYS.fleetJournal('chat'), '2', JSON.stringify(change));
  const told: LeftChange[] = [];
  const next = new SharedHistory({
    redis,
    keys: KEYS,
    token: 'own',
    now: () => NOW,
    onLeftChange: (one) => told.push(one),
  });
  await next.open();
  // Who only reads tells of nothing, and leaves it where it is.
  expect([told, redis.values.has(KEYS.fleetSteering)]).toEqual([[], true]);
  await next.write([write({ rows: [row(NOW)] })], NOW);
  const left = {
    endpoint: 'chat',
    phase: 'watching',
    oldValues: { cold_workers: 5 },
    newValues: { cold_workers: 4 },
  };
  expect(told).toEqual([left]);
  expect(redis.values.has(KEYS.fleetSteering) || redis.values.has(KEYS.fleetJournal('chat'))).toBe(false);
  await next.write([write({ rows: [row(NOW + 1)] })], NOW);
  next.close();
  await next.open();
  await next.write([write({ rows: [row(NOW + 2)] })], NOW);
  expect(told).toEqual([left]);
  expect(loadsOf(await next.read('chat', 'sample', 0, Infinity))).toEqual([1, 1, 1]);
});

describe('what Redis keeps and cannot be read is skipped, and said with its place:', () => {
  const endpoint = (label: string) => ({ label, sinceMs: 1, lastMs: 2, open: [] });
  /** Opened anew with this in the place of a value. */
  async function opened(key: string, ...field: readonly string[]) {
    const known = [{ id: 31, name: 'chat', label: 'chat' }];
    for (const label of ['chat', 'draw']) await put({ label, state: endpoint(label), known });
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
    const { found, said, lines } = await opened(KEYS.fleetEndpoints, 'chat');
    expect(found.endpoints).toEqual([endpoint('draw')]);
    expect(said).toEqual([[KEYS.fleetEndpoints, 'chat', 'endpoint']]);
    expect(lines).toMatchObject([{ level: 50, key: KEYS.fleetEndpoints, field: 'chat' }]);
  });

  test('of names, they are asked for anew', async () => {
    const { found, said } = await opened(KEYS.fleetKnown);
    expect(found.known).toEqual([]);
    expect(found.endpoints).toHaveLength(2);
    expect(said).toEqual([[KEYS.fleetKnown, undefined, 'names']]);
  });
});
