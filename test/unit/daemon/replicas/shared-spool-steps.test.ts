/** Each step alone, on a Redis in memory and on virtual time; ../shared-spool.test.ts has a real one. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LeaseLost } from '../../../../src/daemon/replicas/fenced-commit.ts';
import { SharedKeys } from '../../../../src/daemon/replicas/shared-keys.ts';
import { SharedSpool, type SharedSpoolOptions } from '../../../../src/daemon/replicas/shared-spool.ts';
import { SharedStore } from '../../../../src/daemon/replicas/shared-store.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { progressAt, record, recordsFrom } from '../../../support/log-records.ts';
import { MemoryRedis } from '../../../support/memory-redis.ts';

const KEYS = new SharedKeys('pilotlight', 'test');
const SIZE = JSON.stringify(record(1)).length;

let redis: MemoryRedis;
let isHeld: boolean;
let refused: LeaseLost[];
let commits: unknown[];
let dropped: unknown[];
const SOURCE = 'workergroup/7';
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  redis = new MemoryRedis();
  redis.values.set(KEYS.lease, 'own');
  [isHeld, refused, commits, dropped] = [true, [], [], []];
});
afterEach(() => {
  vi.useRealTimers();
});

async function open(options: Partial<SharedSpoolOptions> = {}): Promise<SharedSpool> {
  const store = new SharedStore(redis, KEYS, 'own');
  return new SharedSpool({
    store,
    keys: KEYS,
    state: await store.load(() => true),
    epochAfterLoss: undefined,
    sinks: ['stdout', 'otlp'],
    held: () => isHeld,
    onRefused: (error) => refused.push(error),
    onCommit: (error) => commits.push(error),
    observe: (event) => void (event.kind === 'dropped' && dropped.push(event)),
    ...options,
  });
}

const appended = (spool: SharedSpool, records: readonly LogRecord[]) =>
  spool.append(SOURCE, records, progressAt(records.at(-1)?.seq ?? 0));
const inRedis = (): number[] =>
  ((redis.values.get(KEYS.records) ?? []) as string[]).map((text) => (JSON.parse(text) as LogRecord).seq);

test('records go to a sink once Redis has them, and it hears of them', async () => {
  const spool = await open();
  let woken = 0;
  spool.onAvailable(() => (woken += 1));
  expect(woken).toBe(0);
  appended(spool, recordsFrom(1, 3));
  expect([spool.take('stdout'), spool.standing('stdout'), inRedis()]).toEqual([
    undefined,
    { lag: 3, dropped: 0 },
    [],
  ]);
  await spool.settled();
  expect([woken, commits, spool.version, inRedis()]).toEqual([1, [undefined], 1, [1, 2, 3]]);
  expect(spool.standing('stdout')).toEqual({ lag: 3, dropped: 0 });
  expect(spool.take('stdout')).toMatchObject({ records: recordsFrom(1, 3) });
  expect(spool.progress(SOURCE)).toEqual(progressAt(3));
});

test('what is appended together is one commit, and progress alone wakes nobody', async () => {
  const spool = await open();
  let woken = 0;
  spool.onAvailable(() => (woken += 1));
  appended(spool, recordsFrom(1, 1));
  appended(spool, recordsFrom(2, 1));
  await spool.settled();
  appended(spool, []);
  await spool.settled();
  expect([woken, commits.length, spool.version]).toEqual([1, 2, 2]);
});

test('what every sink has goes from Redis, and the next holder goes on behind it', async () => {
  const spool = await open();
  appended(spool, recordsFrom(1, 3));
  await spool.settled();
  for (const sink of ['stdout', 'otlp']) {
    const batch = spool.take(sink);
    if (batch) spool.acknowledge(sink);
    await spool.settled();
    expect(inRedis()).toEqual(sink === 'stdout' ? [1, 2, 3] : []);
  }
  appended(spool, recordsFrom(4, 2));
  await spool.settled();
  const next = await open();
  expect(next.take('stdout')).toMatchObject({ records: recordsFrom(4, 2) });
  // A sink that is new has what is there.
  const other = await open({ sinks: ['file'] });
  expect([other.standing('file'), other.take('file')?.records.length]).toEqual([{ lag: 2, dropped: 0 }, 2]);
});

test('a spool that has something when somebody asks to be woken wakes it at once', async () => {
  const spool = await open();
  appended(spool, recordsFrom(1, 1));
  await spool.settled();
  let woken = 0;
  spool.onAvailable(() => (woken += 1));
  expect(woken).toBe(1);
  spool.close();
  appended(spool, recordsFrom(2, 1));
  await spool.settled();
  expect(woken).toBe(1);
});

test('past its bound the oldest go, but not what is on its way', async () => {
  const spool = await open({ maxBytes: 3 * SIZE });
  appended(spool, recordsFrom(1, 2));
  await spool.settled();
  const underway = spool.take('stdout');
  appended(spool, recordsFrom(3, 3));
  await spool.settled();
  appended(spool, []);
  expect(dropped).toEqual([]);
  if (underway) spool.acknowledge('stdout');
  appended(spool, []);
  expect(dropped).toEqual([{ kind: 'dropped', sink: 'otlp', records: 2, reason: 'overflow' }]);
  await spool.settled();
  expect(inRedis()).toEqual([3, 4, 5]);
  expect(spool.standing('otlp')).toEqual({ lag: 3, dropped: 2 });
  expect((await open()).take('otlp')?.records.at(-1)?.seq).toBe(5);
});

test('what would be written is known, for when Redis has lost it', async () => {
  const spool = await open();
  appended(spool, recordsFrom(1, 2));
  await spool.settled();
  const batch = spool.take('stdout');
  if (batch) spool.acknowledge('stdout');
  appended(spool, recordsFrom(3, 1));
  expect(spool.snapshot()).toMatchObject({
    version: 1,
    records: recordsFrom(1, 3),
    first: 1,
    acknowledged: new Map([
      ['stdout', 2],
      ['otlp', 0],
    ]),
    progress: new Map([[7, progressAt(3)]]),
  });
  await spool.settled();
});

describe('without the lease', () => {
  test('nothing is taken or appended', async () => {
    const spool = await open();
    appended(spool, recordsFrom(1, 1));
    await spool.settled();
    isHeld = false;
    expect(spool.take('stdout')).toBeUndefined();
    expect(() => appended(spool, recordsFrom(2, 1))).toThrow('another replica may follow this log now');
  });

  test('a commit that is refused ends the holding', async () => {
    const spool = await open();
    redis.values.set(KEYS.lease, 'another');
    appended(spool, recordsFrom(1, 1));
    await spool.settled();
    expect([refused.map(({ code }) => code), commits, spool.take('stdout')]).toEqual([
      ['lease_lost'],
      [],
      undefined,
    ]);
  });
});

describe('while Redis does not answer', () => {
  const fail = (): void => {
    redis.meanwhile = async () => {
      throw new Error('no answer');
    };
  };

  test('a commit is tried again a little later, and what had arrived is there once', async () => {
    const spool = await open();
    fail();
    appended(spool, recordsFrom(1, 2));
    await vi.advanceTimersByTimeAsync(199);
    expect([commits, spool.take('stdout')]).toMatchObject([[{ message: 'no answer' }], undefined]);
    await vi.advanceTimersByTimeAsync(1);
    await spool.settled();
    expect([commits.length, inRedis(), spool.take('stdout')?.records.length]).toEqual([2, [1, 2], 2]);
  });

  test('it is not tried any more once the lease is gone', async () => {
    const spool = await open();
    fail();
    appended(spool, recordsFrom(1, 2));
    await vi.advanceTimersByTimeAsync(100);
    isHeld = false;
    await vi.advanceTimersByTimeAsync(100);
    await spool.settled();
    expect([commits.length, refused, redis.asked.filter((name) => name === 'EVAL')]).toEqual([
      1,
      [],
      ['EVAL'],
    ]);
  });

  test('what waits is bounded, and goes in commits of a bounded size', async () => {
    const spool = await open();
    fail();
    const large = (seq: number): LogRecord[] => [record(seq, 'x'.repeat(3 * 2 ** 20))];
    for (let seq = 1; seq <= 5; seq += 1) appended(spool, large(seq));
    expect(() => appended(spool, large(6))).toThrow('Redis does not keep up');
    expect(spool.standing('stdout').lag).toBe(5);
    await vi.advanceTimersByTimeAsync(200);
    await spool.settled();
    // One by one, for two are more than two mebibytes; the first took two tries.
    expect([inRedis().length, commits.length]).toEqual([5, 6]);
    appended(spool, large(6));
    await spool.settled();
    expect(inRedis()).toHaveLength(6);
  });

  test('one poll may bring more than that', async () => {
    const spool = await open();
    appended(spool, [record(1, 'x'.repeat(17 * 2 ** 20))]);
    await spool.settled();
    expect(inRedis()).toEqual([1]);
  });
});
