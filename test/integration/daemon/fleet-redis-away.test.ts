/** Two daemons watch endpoints as one, and their Redis goes away: real processes, a real Redis. */
import { expect, test } from 'vitest';
import type { FleetHistory } from '../../../src/daemon/http/fleet/answer.ts';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { freePort } from '../../support/ports.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';

const INTERVAL_MS = 5_000;

async function statusOf({ url }: DaemonProcess): Promise<Status> {
  return (await (await fetch(`${url}/api/status`)).json()) as Status;
}

/** What the history has of the only endpoint. */
async function rowsOf({ url }: DaemonProcess) {
  const answer = await fetch(`${url}/api/fleet?endpoint=chat&rows=5000`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as FleetHistory).endpoints[0]?.rows ?? [];
}

function isSettled({ replica, fleet }: Status): boolean {
  return replica.role === 'holder' && fleet.endpoints.length > 0;
}

function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}

interface Outage {
  begin(server: RedisServer): Promise<void>;
  end(server: RedisServer, port: number): Promise<RedisServer>;
}

const FROZEN: Outage = {
  async begin({ program }) {
    program.child.kill('SIGSTOP');
  },
  async end(server) {
    server.program.child.kill('SIGCONT');
    return server;
  },
};
const LOST: Outage = {
  async begin({ program }) {
    program.child.kill('SIGKILL');
    await program.exit;
  },
  end: (_, port) => startRedis(port),
};

describeWithRedis('a Redis', () => {
  test.concurrent.each([
    ['that does not answer for a while', FROZEN],
    ['that is gone, and back without what it had', LOST],
  ])(
    '%s leaves no hole: the last holder looks on, and no other',
    async (_, outage) => {
      await using emulator = await startEmulator({ dialect: 'public' });
      const port = await freePort();
      let server = await startRedis(port);
      const start = () =>
        startDaemonProcess({
          API_KEY: emulator.apiKey,
          BASE_URL: emulator.url,
          ENDPOINTS: 'all',
          FLEET_INTERVAL: '5s',
          REDIS_URL: server.url(),
          SHUTDOWN_TIMEOUT: '5s',
        });
      const looks = () => emulator.journal.entries({ operation: 'endpointGroups.workers' });
      const replicas = [await start(), await start()] as const;
      try {
        await until(() => looks().length >= 2);
        const [first] = replicas;
        const isFirst = (await statusOf(first)).fleet.samples;
        const [holder, standby] = isFirst ? replicas : ([replicas[1], first] as const);
        await outage.begin(server);
        const before = looks().length;
        await until(() => looks().length >= before + 3);
        // It is seen as before, and its history goes on; the other one is blind, as it was.
        const { fleet } = await statusOf(holder);
        expect(fleet).toMatchObject({
          samples: true,
          history_trouble: null,
          endpoints: [{ endpoint_group: 'chat', last_error: null }],
        });
        expect(await (await fetch(`${holder.url}/metrics`)).text()).toContain(
          'pilotlight_endpoint_requests_working{',
        );
        expect((await rowsOf(holder)).length).toBeGreaterThanOrEqual(3);
        expect((await statusOf(standby)).fleet).toMatchObject({ samples: false, endpoints: [] });
        const answer = await fetch(`${standby.url}/api/fleet?endpoint=chat`);
        expect([answer.status, await answer.json()]).toEqual([
          503,
          expect.objectContaining({ error: 'another_replica' }),
        ]);
        server = await outage.end(server, port);
        // One of them, whichever: Redis may have done late what either asked of it meanwhile.
        await until(async () => {
          const looking = (await Promise.all(replicas.map(statusOf))).filter(
            (status) => status.fleet.samples,
          );
          return looking.length === 1 && looking.every(isSettled);
        });
        const settled = looks().length;
        await until(() => looks().length >= settled + 3);
        const times = looks().map(({ atMs }) => atMs);
        expect(Math.max(...gapsOf(times))).toBeLessThan(3 * INTERVAL_MS);
        expect(Math.min(...gapsOf(times.slice(settled)))).toBeGreaterThan(INTERVAL_MS / 2);
        // The one that looks has what it looked at, each look once.
        const looking = (await statusOf(holder)).fleet.samples ? holder : standby;
        const rows = await rowsOf(looking);
        expect(rows.every(({ samples }) => samples === 1)).toBe(true);
        const seen = rows.map(({ from }) => from * 1_000);
        expect(seen.length).toBeGreaterThanOrEqual(3);
        expect(seen.length).toBeLessThanOrEqual(looks().length);
        if (looking === holder) expect(Math.max(...gapsOf(seen))).toBeLessThan(3 * INTERVAL_MS);
      } finally {
        for (const replica of replicas) await replica[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      }
    },
    180_000,
  );
});
