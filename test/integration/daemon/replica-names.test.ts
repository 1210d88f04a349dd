/** Whose state in Redis is whose: told by the service's address and REDIS_PREFIX, and never by the key. */
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { startTestDaemon, until, type TestDaemon } from '../../support/daemon.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';

const GROUP = 7;
const KEYS = ['sk-first-0001', 'sk-second-0002'];

function start(
  emulator: Emulator,
  redis: RedisServer,
  env: Readonly<Record<string, string>>,
): Promise<TestDaemon> {
  return startTestDaemon({
    BASE_URL: emulator.url,
    WORKER_GROUPS: String(GROUP),
    REDIS_URL: redis.url(),
    ...env,
  });
}

/** How the names begin that stand in it. */
async function scopesIn(redis: RedisServer): Promise<string[]> {
  const names = (await redis.cli('KEYS', '*')).trim().split('\n');
  return [...new Set(names.map((name) => name.slice(0, name.indexOf('}') + 1)))].toSorted();
}

describeWithRedis('state in Redis', () => {
  test('outlives a rotated key and another spelling of the address: numbers and lines go on where they were', async () => {
    await using redis = await startRedis();
    await using emulator = await startEmulator({
      seed: {
        users: [{ id: 1, api_keys: KEYS.map((key) => ({ name: key, key })) }],
        workergroups: [{ id: GROUP, lines_per_second: 0 }],
      },
    });
    emulator.workergroups.append(GROUP, ['one', 'two', 'three']);
    const before = await start(emulator, redis, { API_KEY: 'sk-first-0001' });
    await until(() => before.lines(GROUP).length === 3);
    await before.stop();

    emulator.workergroups.append(GROUP, ['four']);
    const BASE_URL = `${emulator.url.replace('http://127.0.0.1', 'HTTP://127.1')}/`;
    await using after = await start(emulator, redis, { API_KEY: 'sk-second-0002', BASE_URL });
    await until(() => after.lines(GROUP).length > 0);
    const records = [...before.records(), ...after.records()];
    const epoch = records[0]?.epoch;
    expect(records.map((record) => [record.epoch, record.seq, 'line' in record && record.line])).toEqual([
      [epoch, 1, 'one'],
      [epoch, 2, 'two'],
      [epoch, 3, 'three'],
      [epoch, 4, 'four'],
    ]);
    expect(await scopesIn(redis)).toHaveLength(1);
  });

  test('is of one prefix, and of one service: others follow the same logs for themselves', async () => {
    await using redis = await startRedis();
    const seed = { workergroups: [{ id: GROUP, lines_per_second: 0 }] };
    await using emulator = await startEmulator({ seed });
    await using other = await startEmulator({ seed });
    emulator.workergroups.append(GROUP, ['of the first']);
    other.workergroups.append(GROUP, ['of the second']);
    const { apiKey: API_KEY } = emulator;
    await using one = await start(emulator, redis, { API_KEY });
    await using two = await start(emulator, redis, { API_KEY, REDIS_PREFIX: 'team/blue' });
    await using three = await start(other, redis, { API_KEY: other.apiKey });
    await until(() => [one, two, three].every((daemon) => daemon.lines(GROUP).length > 0));
    expect([one, two, three].map((daemon) => daemon.lines(GROUP))).toEqual([
      ['of the first'],
      ['of the first'],
      ['of the second'],
    ]);
    expect(await scopesIn(redis)).toEqual([
      expect.stringMatching(/^pilotlight:\{[\da-f]{16}\}$/),
      expect.stringMatching(/^pilotlight:\{[\da-f]{16}\}$/),
      expect.stringMatching(/^team\/blue:\{[\da-f]{16}\}$/),
    ]);
  });
});
