/** Two daemons with one Redis watch endpoints as one: real processes, a real Redis. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FleetHistory } from '../../../src/daemon/http/fleet/answer.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const INTERVAL_MS = 5_000;

describeWithRedis('with one Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function samples({ url }: DaemonProcess): Promise<boolean> {
    const status = (await (await fetch(`${url}/api/status`)).json()) as { fleet: { samples: boolean } };
    return status.fleet.samples;
  }

  /** When each look that it keeps was, Unix ms. */
  async function kept({ url }: DaemonProcess): Promise<number[]> {
    const answer = await fetch(`${url}/api/fleet?endpoint=chat&rows=5000`);
    expect(answer.status).toBe(200);
    const { endpoints } = (await answer.json()) as FleetHistory;
    return endpoints[0]?.rows.map(({ from }) => from * 1_000) ?? [];
  }

  test('one watches and keeps the history; when it is killed the other goes on within three intervals', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    using folders = temporaryFolder();
    const start = (name: string) =>
      startDaemonProcess({
        API_KEY: emulator.apiKey,
        BASE_URL: emulator.url,
        ENDPOINTS: 'all',
        FLEET_INTERVAL: '5s',
        REDIS_URL: server.url(1),
        STATE_DIR: `${folders.path}/${name}`,
        SHUTDOWN_TIMEOUT: '5s',
      });
    const looks = () => emulator.journal.entries({ operation: 'endpointGroups.workers' });
    const replicas = [await start('a'), await start('b')] as const;
    try {
      await until(() => looks().length >= 3);
      const watching = await Promise.all(replicas.map(samples));
      expect(watching.filter(Boolean)).toHaveLength(1);
      const [leader, other] = watching[0] ? replicas : ([replicas[1], replicas[0]] as const);
      const firstKept = await kept(leader);
      expect(firstKept.length).toBeGreaterThanOrEqual(2);
      const answer = await fetch(`${other.url}/api/fleet?endpoint=chat`);
      expect([answer.status, await answer.json()]).toEqual([
        503,
        expect.objectContaining({ error: 'another_replica' }),
      ]);
      leader.child.kill('SIGKILL');
      await leader.exit;
      const before = looks().length;
      await until(() => looks().length >= before + 3);
      const times = looks().map(({ atMs }) => atMs);
      const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThan(3 * INTERVAL_MS);
      // And never both: no two looks are closer than the interval, but for the first of the second.
      expect(gaps.filter((gap) => gap < INTERVAL_MS / 2).length).toBeLessThanOrEqual(1);
      await until(() => samples(other));
      // It keeps its own, and has nothing of what the other one saw.
      await until(async () => (await kept(other)).length >= 2);
      expect(Math.min(...(await kept(other)))).toBeGreaterThan(Math.max(...firstKept));
    } finally {
      for (const replica of replicas) await replica[Symbol.asyncDispose]();
    }
  });
});
