import { describe, expect, it } from 'vitest';
import { HeartbeatDriver, type DriverOptions } from '../../../../src/heartbeat/driver/driver.ts';
import type { Notice, AttemptOutcome } from '../../../../src/heartbeat/engine/state.ts';
import type { BeatRequest } from '../../../../src/heartbeat/driver/ports.ts';
import { EPOCH, VirtualTime } from '../../../support/virtual-time.ts';
import type { DeploymentSnapshot } from '../../../../src/heartbeat/view/snapshot.ts';

const ACCEPTED: AttemptOutcome = { type: 'accepted' };
const UNAUTHORIZED: AttemptOutcome = { type: 'unauthorized' };

interface Sent extends BeatRequest {
  readonly at: number;
}

/** A driver in virtual time, with a service that answers as the test says. */
function rig(options: Partial<Omit<DriverOptions, 'ports'>> = {}) {
  const time = new VirtualTime();
  const sent: Sent[] = [];
  const notices: { id: number; notice: Notice }[] = [];
  /** How long each timer is, ms. */
  const asked: number[] = [];
  const service = {
    key: 'first-key',
    keyReads: 0,
    /** A key is read once this resolves. */
    reading: Promise.resolve(),
    latency: 50,
    /** Requests that have not ended. */
    open: 0,
    /** The answer to a request; undefined: none ever. */
    answer: (_request: BeatRequest): AttemptOutcome | undefined => ACCEPTED,
    listen: (_notice: Notice): void => {},
  };
  function beat(request: BeatRequest): Promise<AttemptOutcome> {
    sent.push({ ...request, at: time.now });
    service.open += 1;
    const answered = time.answer(service.answer(request), service.latency, request.signal);
    return answered.finally(() => (service.open -= 1));
  }
  const driver = new HeartbeatDriver({
    key: service.key,
    ...options,
    ports: {
      clock: time.clock,
      random: () => 0.5,
      setTimer: (ms, run) => {
        asked.push(ms);
        return time.setTimer(ms, run);
      },
      beat,
      readKey: async () => {
        service.keyReads += 1;
        await service.reading;
        return service.key;
      },
      listener: (id, notice) => {
        notices.push({ id, notice });
        service.listen(notice);
      },
    },
  });
  return { time, driver, service, sent, notices, asked };
}

/** All that a driver keeps alive, by id. */
function viewsOf(driver: HeartbeatDriver): DeploymentSnapshot[] {
  return Array.from({ length: 10_001 }, (_, id) => driver.snapshotOf(id)).filter(
    (view) => view !== undefined,
  );
}

describe('the driver', () => {
  it('uses one timer, however many deployments there are, no longer than its shortest tick', async () => {
    const { time, driver, asked } = rig();
    for (let id = 0; id < 100; id += 1) driver.add({ id, ttl: 4_000_000_000, interval: 'auto' });
    await time.pass(200_000);
    expect(time.timers).toBe(1);
    expect(Math.max(...asked)).toBeLessThan(1000.001);
  });

  it('takes an exception of the beat port for a failure, and one of its listener for none', async () => {
    const { time, driver, service } = rig();
    service.answer = service.listen = () => {
      throw new Error('a bug');
    };
    driver.add({ id: 1, ttl: 20_000, interval: 'auto' });
    await time.pass(5000);
    expect(viewsOf(driver)[0]!.failures.unknown).toBeGreaterThan(2);
    service.answer = () => ACCEPTED;
    await time.pass(2000);
    expect(viewsOf(driver)[0]!.state).toBe('healthy');
  });

  it('gives up an overdue attempt without a connection, for another deployment', async () => {
    const { time, driver, service, sent } = rig({ concurrency: 1, openLimit: 1 });
    service.answer = () => undefined;
    for (const id of [1, 2]) driver.add({ id, ttl: 20_000, interval: 'auto' });
    await time.pass(1_500);
    expect(sent.map(({ deploymentId: id, signal }) => [id, signal.aborted])).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  it('reports how late a beat left', async () => {
    const { time, driver, notices } = rig();
    driver.add({ id: 1, ttl: 20_000, interval: 'auto' });
    await time.pass(3000);
    time.stall(4000);
    await time.pass(5000);
    const lags = notices.flatMap(({ notice }) => (notice.type === 'sent' ? [notice.lagMs] : []));
    expect(lags[0]).toBeCloseTo(0);
    expect(Math.max(...lags)).toBeGreaterThan(1000);
  });
});

it('a step of the wall clock is told to all deployments, also to those that have nothing to do', async () => {
  const { time, driver, sent } = rig();
  for (const id of [1, 2]) driver.add({ id, ttl: 300_000, interval: 'auto' });
  await time.pass(5000);
  expect(sent).toHaveLength(2);
  time.stepWallClock(10_000);
  await time.pass(1100);
  expect(sent.slice(2).map(({ deploymentId, fresh }) => [deploymentId, fresh])).toEqual([
    [1, true],
    [2, true],
  ]);
});

describe('many deployments', () => {
  it('part over the interval although they all began at once', async () => {
    const { time, driver, sent } = rig();
    for (let id = 0; id < 60; id += 1) driver.add({ id, ttl: 300_000, interval: 'auto' });
    await time.pass(600_000);
    const late = sent.filter(({ at }) => at > 300_000);
    const perSecond = new Map<number, number>();
    for (const { at } of late)
      perSecond.set(Math.floor(at / 1000), (perSecond.get(Math.floor(at / 1000)) ?? 0) + 1);
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(7);
  });

  it('can be added, changed and removed at run time', async () => {
    const { time, driver, service, sent } = rig();
    driver.add({ id: 1, ttl: 300_000, interval: 'auto' });
    await time.pass(1000);
    driver.add({ id: 2, ttl: 20_000, interval: 'auto' });
    driver.add({ id: 1, ttl: 20_000, interval: 'auto' });
    await time.pass(30_000);
    expect(sent.filter(({ deploymentId }) => deploymentId === 1).length).toBeGreaterThan(6);
    service.answer = () => undefined;
    await time.pass(4000);
    for (const id of [1, 1, 7]) driver.remove(id);
    expect(sent.findLast(({ deploymentId }) => deploymentId === 1)!.signal.aborted).toBe(true);
    const before = sent.filter(({ deploymentId }) => deploymentId === 1).length;
    await time.pass(30_000);
    expect(sent.filter(({ deploymentId }) => deploymentId === 1)).toHaveLength(before);
    expect(viewsOf(driver).map(({ deploymentId }) => deploymentId)).toEqual([2]);
  });
});

describe('a crowd of deployments that are added together', () => {
  it('begins a few at once and the others at a steady pace, none of them late', async () => {
    const { time, driver, service, sent, notices } = rig();
    for (let id = 0; id < 10_000; id += 1) driver.add({ id, ttl: 60_000, interval: 'auto' });
    await time.pass(0.1);
    expect(sent).toHaveLength(32);
    await time.pass(6000);
    const firsts = new Map(sent.toReversed().map(({ deploymentId, at }) => [deploymentId, at]));
    expect(firsts.size).toBe(10_000);
    const perSecond = Map.groupBy(firsts.values(), (at) => Math.ceil((at - 0.1) / 1000));
    const counts = [1, 2, 3, 4, 5].map((second) => perSecond.get(second)?.length);
    expect(counts).toEqual([1750, 1750, 1750, 1750, 1750].map((n) => expect.closeTo(n, -1)));
    const lags = notices.flatMap(({ notice }) => (notice.type === 'sent' ? [notice.lagMs] : []));
    // The first of the others may have to wait for the answers to those that left at once.
    expect(Math.max(...lags)).toBeLessThanOrEqual(service.latency);
  });

  it('does not wait for the alarm of one that was there before', async () => {
    const { time, driver, sent } = rig();
    driver.add({ id: 0, ttl: 60_000, interval: 'auto' });
    await time.pass(100);
    for (let id = 1; id < 60; id += 1) driver.add({ id, ttl: 60_000, interval: 'auto' });
    await time.pass(30);
    expect(sent).toHaveLength(60);
  });

  it('has its last beat at once, also those that have not begun', async () => {
    const { time, driver, sent } = rig();
    for (let id = 0; id < 2000; id += 1) driver.add({ id, ttl: 60_000, interval: 'auto' });
    const last = driver.finalBeat();
    await time.pass(500);
    expect(await last).toEqual([]);
    expect(sent).toHaveLength(2000);
  });

  it('waits no longer than a tenth of a TTL that is learned meanwhile', async () => {
    const { time, driver, sent } = rig();
    for (let id = 0; id < 10_000; id += 1) driver.add({ id, ttl: undefined, interval: 'auto' });
    await time.pass(100);
    for (const id of [9999, 10_000]) driver.add({ id, ttl: 10_000, interval: 'auto' });
    await time.pass(901);
    expect(sent.find(({ deploymentId }) => deploymentId === 10_000)?.at).toBeCloseTo(100, -1);
    expect(sent.find(({ deploymentId }) => deploymentId === 9999)?.at).toBeCloseTo(1000, -1);
  });
});

describe('the key', () => {
  it('is read once for all deployments that were refused, and used at once', async () => {
    const { time, driver, service, sent } = rig();
    for (let id = 0; id < 10; id += 1) driver.add({ id, ttl: 60_000, interval: 'auto' });
    await time.pass(1000);
    service.key = 'second-key';
    service.answer = ({ key }) => (key === 'second-key' ? ACCEPTED : UNAUTHORIZED);
    await time.pass(15_000);
    expect(service.keyReads).toBeLessThanOrEqual(10);
    expect(viewsOf(driver).every(({ state }) => state === 'healthy')).toBe(true);
    const firstRefused = sent.findIndex(({ at, key }) => at > 1000 && key === 'first-key');
    expect(sent.slice(firstRefused + 1).every(({ key }) => key === 'second-key')).toBe(true);
  });

  it('stays as it is if the source has the same, none, fails, or hangs for 10 s', async () => {
    const { time, driver, service, sent } = rig();
    service.answer = () => UNAUTHORIZED;
    driver.add({ id: 1, ttl: 300_000, interval: 'auto' });
    await time.pass(100);
    for (const key of ['first-key', '']) {
      service.key = key;
      await driver.readKey();
    }
    service.reading = Promise.reject(new Error('gone'));
    await driver.readKey();
    service.key = 'second-key';
    service.reading = new Promise(() => {});
    const hanging = driver.readKey();
    await time.pass(10_001);
    await hanging;
    expect(new Set(sent.map(({ key }) => key))).toEqual(new Set(['first-key']));
    service.reading = Promise.resolve();
    await driver.readKey();
    expect(sent.at(-1)?.key).toBe('second-key');
  });

  it('that is known to have changed is read after a read that began before', async () => {
    const { time, driver, service } = rig();
    driver.add({ id: 1, ttl: 20_000, interval: 'auto' });
    const older = Promise.withResolvers<void>();
    service.reading = older.promise;
    const before = driver.readKey();
    await time.pass(1);
    const after = [driver.readKey(), driver.readKey()];
    older.resolve();
    await Promise.all([before, ...after]);
    expect(service.keyReads).toBe(2);
  });
});

describe('under one rate limit for all', () => {
  /** One beat every `threshold` ms, which refusals name; those that are refused count too, which is the harder way. */
  function limited(count: number, threshold: number, ttl = 60_000) {
    const scene = rig();
    let last = -Infinity;
    const refusals: number[] = [];
    scene.service.latency = 20;
    scene.service.answer = () => {
      const admitted = scene.time.now - last >= threshold;
      last = scene.time.now;
      if (!admitted) refusals.push(scene.time.now);
      return admitted ? ACCEPTED : { type: 'throttled', thresholdMs: threshold };
    };
    for (let id = 0; id < count; id += 1) scene.driver.add({ id, ttl, interval: 'auto' });
    return { ...scene, refusals };
  }

  it('what does not fit is said with its numbers', async () => {
    const { time, driver } = limited(20, 3000);
    await time.pass(5000);
    // A fiftieth more is kept, as the network brings requests nearer to each other.
    const limit = { thresholdMs: 3060, deployments: 20, neededMs: 61_200, availableMs: 47_400, fits: false };
    expect(driver.sharedLimit()).toEqual({ ...limit, availableMs: expect.closeTo(47_400) });
    for (let id = 15; id < 20; id += 1) driver.remove(id);
    expect(driver.sharedLimit()).toMatchObject({ deployments: 15, neededMs: 45_900, fits: true });
  });

  it('those whose TTL has changed need their turns by the new one alone', async () => {
    const { time, driver } = limited(20, 3000);
    await time.pass(5000);
    for (let id = 0; id < 20; id += 1) driver.add({ id, ttl: 120_000, interval: 'auto' });
    const availableMs = expect.closeTo(120_000 - 1_200 - 21_000) as number;
    expect(driver.sharedLimit()).toMatchObject({
      deployments: 20,
      neededMs: 61_200,
      availableMs,
      fits: true,
    });
  });

  it('waiting for one’s turn is no lag', async () => {
    const { time, notices } = limited(100, 200);
    await time.pass(60_000);
    const lags = notices.flatMap(({ notice }) => (notice.type === 'sent' ? [notice.lagMs] : []));
    expect(Math.max(...lags)).toBeLessThan(1);
  });

  it('a new key may have another limit, or none', async () => {
    const { time, driver, service } = limited(20, 100);
    await time.pass(5000);
    expect(driver.sharedLimit()).toBeDefined();
    service.key = 'second-key';
    await driver.readKey();
    expect(driver.sharedLimit()).toBeUndefined();
  });

  it('the last beats leave one by one, and the time that they need is known before', async () => {
    const { time, driver, sent } = limited(30, 200);
    await time.pass(30_000);
    sent.length = 0;
    const needed = driver.finalBeatMs();
    const began = time.now;
    expect(await time.until(driver.finalBeat())).toEqual([]);
    expect(needed).toBeLessThan(30 * 210 + 5000);
    expect(time.now - began).toBeLessThanOrEqual(needed + 100);
    // They do not wait for their turns, which would come half an interval later.
    expect(sent.at(-1)!.at - began).toBeLessThan(30 * 210);
  });

  it('the last beats of those with the least time come first where not all can be made', async () => {
    const { time, driver, sent } = limited(60, 500);
    await time.pass(55_000);
    sent.length = 0;
    const left = new Map(viewsOf(driver).map((view) => [view.deploymentId, view.expiresAt!]));
    const missed = await time.until(driver.finalBeat(10_000));
    expect(missed.length).toBeGreaterThan(30);
    expect(missed.length).toBeLessThan(45);
    const tried = sent.map(({ deploymentId }) => left.get(deploymentId)!);
    const untried = missed.filter((id) => !sent.some(({ deploymentId }) => deploymentId === id));
    expect(Math.max(...tried)).toBeLessThan(Math.min(...untried.map((id) => left.get(id)!)));
  });
});

describe('a gone deployment', () => {
  async function withOneGone() {
    const scene = rig();
    scene.service.answer = ({ deploymentId }) => (deploymentId === 1 ? { type: 'not-found' } : ACCEPTED);
    for (const id of [1, 2]) scene.driver.add({ id, ttl: 60_000, interval: 'auto' });
    await scene.time.pass(9000);
    expect(viewsOf(scene.driver).map(({ state }) => state)).toEqual(['gone', 'healthy']);
    scene.sent.length = 0;
    return scene;
  }

  it('is asked at once where somebody wants to know', async () => {
    const { driver, sent, service, time } = await withOneGone();
    service.answer = () => ACCEPTED;
    driver.beatNow((state) => state === 'gone');
    expect(sent.map(({ deploymentId }) => deploymentId)).toEqual([1]);
    await time.pass(100);
    expect(viewsOf(driver)[0]!.state).toBe('healthy');
  });

  it('has no last beat, and is not missed', async () => {
    const { driver, sent, time } = await withOneGone();
    const last = driver.finalBeat();
    await time.pass(1100);
    expect(await last).toEqual([]);
    expect(sent.map(({ deploymentId }) => deploymentId)).toEqual([2]);
  });
});

describe('the last beat', () => {
  it('gives every deployment its whole TTL again, and then nothing is left', async () => {
    const { time, driver, sent } = rig();
    for (let id = 0; id < 5; id += 1) driver.add({ id, ttl: 60_000, interval: 'auto' });
    await time.pass(9000);
    const last = driver.finalBeat();
    await time.pass(1100);
    expect(await last).toEqual([]);
    for (const { expiresAt } of viewsOf(driver)) {
      expect(expiresAt! - (EPOCH + time.now)).toBeGreaterThanOrEqual(60_000 - 600 - 3000);
    }
    await driver.stop();
    const { length } = sent;
    expect(time.timers).toBe(0);
    await time.pass(100_000);
    expect(sent).toHaveLength(length);
  });

  it('takes as long as the slowest of each batch', async () => {
    const { time, driver } = rig({ concurrency: 2 });
    expect(driver.finalBeatMs()).toBe(0);
    for (const [id, ttl] of [20_000, 60_000, 60_000].entries()) driver.add({ id, ttl, interval: 'auto' });
    await time.pass(1_100);
    expect(driver.finalBeatMs()).toBe(2 * (3_000 + 1_000));
  });

  it('is not made of a deployment that was reached within the spacing, and does not wait for it', async () => {
    const { time, driver, sent } = rig();
    driver.add({ id: 1, ttl: 60_000, interval: 'auto' });
    await time.pass(500);
    expect(sent).toHaveLength(1);
    expect(await driver.finalBeat()).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  it('names those that it did not reach, when its limit has passed', async () => {
    const { time, driver, service } = rig();
    driver.add({ id: 1, ttl: 60_000, interval: 'auto' });
    driver.add({ id: 2, ttl: 60_000, interval: 'auto' });
    await time.pass(5000);
    service.answer = ({ deploymentId }) => (deploymentId === 1 ? undefined : ACCEPTED);
    let missed: number[] | undefined;
    const last = driver.finalBeat().then((ids) => (missed = ids));
    await time.pass(3900);
    expect(missed).toBeUndefined();
    await time.pass(200);
    await last;
    expect(missed).toEqual([1]);
  });

  it.each([
    ['withheld', (driver: HeartbeatDriver) => driver.withhold()],
    ['removed', (driver: HeartbeatDriver) => driver.remove(1)],
  ])('of one that is %s meanwhile is waited for no more', async (_, end) => {
    const { time, driver, service } = rig();
    driver.add({ id: 1, ttl: 60_000, interval: 'auto' });
    await time.pass(5000);
    service.answer = () => undefined;
    let missed: number[] | undefined;
    void driver.finalBeat().then((ids) => (missed = ids));
    await time.pass(100);
    expect(missed).toBeUndefined();
    end(driver);
    await time.pass(0);
    expect(missed).toEqual([1]);
  });
});

describe('stop', () => {
  it('leaves no request and no timer, also in the middle of an outage', async () => {
    const { time, driver, service, sent } = rig();
    service.answer = () => undefined;
    for (let id = 0; id < 20; id += 1) driver.add({ id, ttl: 20_000, interval: 'auto' });
    await time.pass(10_300);
    await driver.stop();
    expect(time.timers).toBe(0);
    expect(sent.every(({ signal }) => signal.aborted)).toBe(true);
    expect(service.open).toBe(0);
    await driver.stop();
  });

  it('is told of each deployment, and nothing is added after it', async () => {
    const { time, driver, sent, notices } = rig();
    driver.add({ id: 1, ttl: 20_000, interval: 'auto' });
    await time.pass(100);
    await driver.stop();
    expect(notices.at(-1)).toMatchObject({ id: 1, notice: { type: 'state', to: 'stopped' } });
    expect(notices.every(({ id }) => id === 1)).toBe(true);
    driver.add({ id: 2, ttl: 20_000, interval: 'auto' });
    await time.pass(5000);
    expect(sent.map(({ deploymentId }) => deploymentId)).toEqual([1]);
    expect(viewsOf(driver).map(({ deploymentId }) => deploymentId)).toEqual([1]);
  });

  it('ends a read of the key that hangs, and reads no more', async () => {
    const { time, driver, service } = rig();
    service.reading = new Promise(() => {});
    const reading = driver.readKey();
    await driver.stop();
    await reading;
    expect(time.timers).toBe(0);
    const { keyReads } = service;
    await driver.readKey();
    expect(service.keyReads).toBe(keyReads);
  });
});

describe('the view', () => {
  it('has what the status page and the metrics tell, in Unix time', async () => {
    const { time, driver, service } = rig();
    driver.add({ id: 7, ttl: 20_000, interval: 'auto' });
    driver.add({ id: 8, ttl: undefined, interval: 'auto' });
    await time.pass(10_000);
    expect(driver.snapshotOf(7)?.minMarginRatio).toBeCloseTo(0.79, 1);
    service.answer = () => ({ type: 'failed', reason: 'server-error', why: 'status 503' });
    await time.pass(5100);
    const [known, unknown] = viewsOf(driver);
    const now = EPOCH + time.now;
    const retrying = { deploymentId: 7, state: 'retrying', ttlMs: 20_000, intervalMs: 4000, lapses: 0 };
    expect(known).toMatchObject(retrying);
    expect(known!.failures['server-error']).toBeGreaterThan(0);
    expect(known!.lastSuccessAt).toBeLessThan(now);
    expect(known!.nextBeatAt).toBeGreaterThan(now - 1000);
    expect(known!.expiresAt! - now).toBeLessThan(16_000);
    expect(known!.minMarginRatio).toBeCloseTo((known!.expiresAt! - now) / 20_000, 2);
    expect(known!.timeline.at(-1)).toMatchObject({ result: 'server-error', tookMs: 50, hedge: false });
    expect(unknown).not.toHaveProperty('expiresAt');
    expect(unknown).not.toHaveProperty('ttlMs');
    expect(unknown).not.toHaveProperty('minMarginRatio');
    const took = { hedge: false, tookMs: 50, at: expect.any(Number) as number };
    expect(known!.timeline[0]).toEqual({ attempt: 1, result: 'accepted', ...took });
    expect(unknown!.intervalMs).toBe(20_000);
    expect(known!.lastFailure).toMatchObject({ why: 'status 503' });
    await time.pass(20_000);
    expect(driver.snapshotOf(7)).toMatchObject({ state: 'lapsed', lapses: 1 });
  });

  it('keeps the last 20 attempts', async () => {
    const { time, driver, service } = rig();
    driver.add({ id: 7, ttl: 6000, interval: 'auto' });
    expect(driver.snapshotOf(7)?.timeline).toEqual([]);
    await time.pass(60_000);
    const { timeline, attempts } = viewsOf(driver)[0]!;
    expect(timeline).toHaveLength(20);
    expect(timeline.at(-1)!.attempt).toBe(attempts);
    service.answer = () => undefined;
    await time.pass(60_000);
    const results = driver.snapshotOf(7)!.timeline.map(({ result }) => result);
    expect(results.slice(-2)).toEqual(['timeout', 'overdue']);
  });
});

describe('withheld heartbeats', () => {
  const states = (driver: HeartbeatDriver) => viewsOf(driver).map(({ state }) => state);
  const idsOf = (sent: readonly Sent[]) => sent.map(({ deploymentId }) => deploymentId);

  it('all are withheld, also what is added meanwhile, and a reload beats none of them', async () => {
    const { time, driver, sent } = rig({ concurrency: 1 });
    driver.add({ id: 1, ttl: 20_000, interval: 'auto' });
    await time.pass(100);
    driver.withhold();
    driver.add({ id: 2, ttl: 60_000, interval: 'auto' });
    driver.add({ id: 1, ttl: 6_000, interval: 'auto' });
    driver.beatNow(() => true);
    await driver.readKey();
    await time.pass(100_000);
    expect([states(driver), idsOf(sent)]).toEqual([['withheld', 'withheld'], [1]]);
    expect(viewsOf(driver)).toMatchObject([{ lapses: 0 }, { attempts: 0 }]);
    expect(viewsOf(driver)[0]).not.toHaveProperty('nextBeatAt');
    expect(await time.until(driver.finalBeat())).toEqual([]);
    expect(idsOf(sent)).toEqual([1]);
    await driver.stop();
    expect(time.timers).toBe(0);
  });

  it('resumed, one that may live goes first, by its remaining time, and one that may be lost is named', async () => {
    const { time, driver, sent } = rig({ concurrency: 1 });
    for (const [id, ttl] of [
      [1, 60_000],
      [2, 20_000],
      [3, 30_000],
      [4, 31_000],
    ] as const)
      driver.add({ id, ttl, interval: 'auto' });
    await time.pass(1_000);
    driver.withhold();
    const left = (id: number): number => (driver.snapshotOf(id)?.expiresAt ?? 0) - time.clock.wall();
    await time.pass(left(4) - 2_000);
    sent.length = 0;
    // 2 has lapsed; 3 has less than A, 1.5 s, left.
    expect(driver.resume()).toEqual([2, 3]);
    await time.pass(400);
    expect(idsOf(sent)).toEqual([3, 4, 1, 2]);
    expect(new Set(states(driver))).toEqual(new Set(['healthy']));
    expect(driver.resume()).toEqual([]);
    driver.add({ id: 5, ttl: 60_000, interval: 'auto' });
    await time.pass(100);
    expect(idsOf(sent)).toContain(5);
  });
});
