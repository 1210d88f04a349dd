import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLease, type Lease } from '../../../src/daemon/replicas/lease.ts';
import type { Redis } from '../../../src/daemon/replicas/redis.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { until } from '../../support/daemon.ts';
import { connectedTo, describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';

describeWithRedis('a lease in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = await connectedTo(server);
  });
  afterAll(async () => {
    redis.close();
    await server[Symbol.asyncDispose]();
  });

  const ofKey = (key: string) => redis.command('GET', key);

  async function taken(key: string, begin = async () => {}): Promise<Lease> {
    const lease = startLease({
      redis,
      keys: { lease: key, index: `${key} index` },
      now: () => performance.now(),
      clock: systemClock,
      onTaken: begin,
      onRenewed: () => {},
      onDenied: async () => {},
      onLost: async () => {},
      onFailed: () => {},
    });
    await until(() => lease.held());
    return lease;
  }

  test('is given back at the end, and is the next one’s at once, under a higher token', async () => {
    const first = await taken('given back');
    const token = Number(await ofKey('given back'));
    expect(token).toBeGreaterThan(1_700_000_000_000);
    await first.release();
    expect([first.held(), await ofKey('given back')]).toEqual([false, null]);
    const second = await taken('given back');
    expect(Number(await ofKey('given back'))).toBeGreaterThan(token);
    await second.release();
  });

  test('that is another’s by now is left alone', async () => {
    const lease = await taken('of another');
    await redis.command('SET', 'of another', 'other');
    await lease.release();
    expect(await ofKey('of another')).toBe('other');
  });

  test('that Redis has lost is there again after the next renewal', async () => {
    const lease = await taken('lost');
    const token = await ofKey('lost');
    await redis.command('DEL', 'lost', 'lost index');
    await until(async () => (await ofKey('lost')) === token);
    expect(lease.held()).toBe(true);
    await lease.release();
  });

  test('is given back where the work under it cannot begin', async () => {
    let tries = 0;
    const lease = await taken('cannot begin', async () => {
      tries += 1;
      if (tries === 1) throw new Error('not now');
    });
    await until(() => tries === 2);
    expect(lease.held()).toBe(true);
    await lease.release();
    expect(await ofKey('cannot begin')).toBeNull();
  });
});
