/** Two daemons with one Redis watch endpoints as one, also while Redis is away: real processes, a real Redis. */
import { expect, test } from 'vitest';
import type { FleetHistory } from '../../../src/daemon/http/fleet.ts';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { freePort } from '../../support/ports.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const INTERVAL_MS = 5_000;

function start(emulator: Emulator, server: RedisServer, env: Record<string, string> = {}) {
  return startDaemonProcess({
    ...serviceOf(emulator),
    ENDPOINTS: 'all',
    FLEET_INTERVAL: '5s',
    REDIS_URL: server.url(),
    SHUTDOWN_TIMEOUT: '5s',
    ...env,
  });
}

async function expectElsewhere({ url }: DaemonProcess): Promise<void> {
  const answer = await fetch(`${url}/api/fleet?endpoint=chat`);
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ error: 'another_replica' }),
  ]);
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
  test('one watches and keeps the history; when it is killed the other goes on within three intervals', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    await using server = await startRedis();
    using folders = temporaryFolder();
    const looks = () => emulator.journal.entries({ operation: 'endpointGroups.workers' });
    /** When each look that it keeps was, Unix ms. */
    const kept = async (daemon: DaemonProcess) => (await rowsOf(daemon)).map(({ from }) => from * 1_000);
    const samples = async (daemon: DaemonProcess) => (await daemon.status()).fleet.samples;
    await using all = new AsyncDisposableStack();
    const replicas = [
      all.use(await start(emulator, server, { STATE_DIR: `${folders.path}/a` })),
      all.use(await start(emulator, server, { STATE_DIR: `${folders.path}/b` })),
    ] as const;
    await until(() => looks().length >= 3);
    const watching = await Promise.all(replicas.map(samples));
    expect(watching.filter(Boolean)).toHaveLength(1);
    const [leader, other] = watching[0] ? replicas : ([replicas[1], replicas[0]] as const);
    const firstKept = await kept(leader);
    expect(firstKept.length).toBeGreaterThanOrEqual(2);
    await expectElsewhere(other);
    leader.child.kill('SIGKILL');
    await leader.exit;
    const before = looks().length;
    await until(() => looks().length >= before + 3);
    const gaps = gapsOf(looks().map(({ atMs }) => atMs));
    expect(Math.max(...gaps)).toBeLessThan(3 * INTERVAL_MS);
    // And never both: no two looks are closer than the interval, except the first of the second.
    expect(gaps.filter((gap) => gap < INTERVAL_MS / 2).length).toBeLessThanOrEqual(1);
    await until(() => samples(other));
    // It keeps its own, and has nothing of what the other one saw.
    await until(async () => (await kept(other)).length >= 2);
    expect(Math.min(...(await kept(other)))).toBeGreaterThan(Math.max(...firstKept));
  });

  test.concurrent.each([
    ['that does not answer for a while', FROZEN],
    ['that is gone, and back without what it had', LOST],
  ])('%s leaves no hole: the last holder looks on, and no other', { timeout: 180_000 }, async (_, outage) => {
    await using emulator = await startEmulator({ dialect: 'public' });
    const port = await freePort();
    let server = await startRedis(port);
    const looks = () => emulator.journal.entries({ operation: 'endpointGroups.workers' });
    await using all = new AsyncDisposableStack();
    all.defer(() => server[Symbol.asyncDispose]());
    const replicas = [
      all.use(await start(emulator, server)),
      all.use(await start(emulator, server)),
    ] as const;
    await until(() => looks().length >= 2);
    const [first] = replicas;
    const isFirst = (await first.status()).fleet.samples;
    const [holder, standby] = isFirst ? replicas : ([replicas[1], first] as const);
    await outage.begin(server);
    const before = looks().length;
    await until(() => looks().length >= before + 3);
    // It is seen as before, and its history goes on; the other one is blind, as it was.
    const { fleet } = await holder.status();
    expect(fleet).toMatchObject({
      samples: true,
      history_trouble: null,
      endpoints: [{ endpoint_group: 'chat', last_error: null }],
    });
    expect(await holder.metrics()).toContain('pilotlight_endpoint_requests_working{');
    expect((await rowsOf(holder)).length).toBeGreaterThanOrEqual(3);
    expect((await standby.status()).fleet).toMatchObject({ samples: false, endpoints: [] });
    await expectElsewhere(standby);
    server = await outage.end(server, port);
    // One of them, whichever: Redis may have done late what either asked of it meanwhile.
    await until(async () => {
      const statuses = await Promise.all(replicas.map((replica) => replica.status()));
      const looking = statuses.filter(({ fleet: { samples } }) => samples);
      return looking.length === 1 && looking.every(isSettled);
    });
    const settled = looks().length;
    await until(() => looks().length >= settled + 3);
    const times = looks().map(({ atMs }) => atMs);
    expect(Math.max(...gapsOf(times))).toBeLessThan(3 * INTERVAL_MS);
    expect(Math.min(...gapsOf(times.slice(settled)))).toBeGreaterThan(INTERVAL_MS / 2);
    // The one that looks has what it looked at, each look once.
    const looking = (await holder.status()).fleet.samples ? holder : standby;
    const rows = await rowsOf(looking);
    expect(rows.every(({ samples }) => samples === 1)).toBe(true);
    const seen = rows.map(({ from }) => from * 1_000);
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(seen.length).toBeLessThanOrEqual(looks().length);
    if (looking === holder) expect(Math.max(...gapsOf(seen))).toBeLessThan(3 * INTERVAL_MS);
  });
});
