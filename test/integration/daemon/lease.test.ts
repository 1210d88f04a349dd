import { beforeAll, expect, test } from 'vitest';
import { startLease, type Lease } from '../../../src/daemon/replicas/lease.ts';
import type { Redis } from '../../../src/daemon/replicas/redis.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { until } from '../../support/daemon.ts';
import { connectedTo, describeWithRedis, startRedis } from '../../support/redis.ts';

describeWithRedis('a lease in Redis', () => {
  let redis: Redis;
  beforeAll(async () => {
    const server = await startRedis();
    redis = await connectedTo(server);
    return async () => {
      redis.close();
      await server[Symbol.asyncDispose]();
    };
  });

  const ofKey = (key: string) => redis.command('GET', key);

  async function taken(key: string, begin = async (_token: number) => {}): Promise<Lease> {
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

  test('is given back where the work under it cannot begin, and taken again under a higher token', async () => {
    const tokens: number[] = [];
    const lease = await taken('cannot begin', async (token) => {
      tokens.push(token);
      if (tokens.length === 1) throw new Error('not now');
    });
    await until(() => tokens.length === 2);
    expect(lease.held()).toBe(true);
    const [first = Number.NaN, second] = tokens;
    expect(first).toBeGreaterThan(1_700_000_000_000);
    expect(second).toBeGreaterThan(first);
    await lease.release();
    expect(await ofKey('cannot begin')).toBeNull();
  });
});
