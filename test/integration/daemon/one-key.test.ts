/** Heart and daemon of one key, at an emulator whose rate limit counts all requests of a key. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator, type TraitsInput } from '../../../src/emulator/index.ts';
import { serviceOf, startTestDaemon } from '../../support/daemon.ts';
import { isLong } from '../../support/long.ts';

const TTL_SECONDS = 20;
const LASTS_MS = isLong ? 60_000 : 30_000;

const KEY = { size: 5, refill_per_second: 0.5, penalty: 1, debt_cap: 2 };
const WORLDS: Readonly<Record<string, TraitsInput>> = {
  'the captured 429, with headers': { rate_limit: { key: KEY }, throttled_shape: 'json' },
  'a plain 429 without headers': { rate_limit: { key: KEY }, throttled_shape: 'plain' },
  'buckets of operations alone': { rate_limit: { operations: 'evidence' }, throttled_shape: 'json' },
};

test.concurrent.each(Object.entries(WORLDS))(
  'busy log groups do not starve the heartbeats: %s',
  async (_name, traits) => {
    const emulator = await startEmulator({
      dialect: 'public',
      seed: {
        deployments: [{ id: 42, ttl: TTL_SECONDS }],
        workergroups: [
          { id: 7, lines_per_second: 5 },
          { id: 8, lines_per_second: 5 },
        ],
      },
      traits,
    });
    await using running = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: `42@${TTL_SECONDS}s`,
      WORKER_GROUPS: '7,8',
      INSTANCES_SCHEDULE: 'off',
      ACCOUNT_SCHEDULE: 'off',
    });
    await delay(LASTS_MS);
    // Heartbeats take most of the bucket: a group's turn may come late, but it comes.
    const haveLines = () => running.daemon.status().worker_groups.every(({ lines }) => lines > 0);
    await expect.poll(haveLines, { timeout: 180_000, interval: 1_000 }).toBe(true);
    const { deployments, rate_limit: limit } = running.daemon.status();
    const [deployment] = deployments;
    expect(deployment).toMatchObject({ deployment_id: 42, lapses: 0 });
    expect(deployment?.min_margin_ratio).toBeGreaterThan(0.2);
    expect(limit.wanted_requests_per_second).toBeGreaterThan(0);
    await running.stop();
    await emulator.close();
  },
  300_000,
);
