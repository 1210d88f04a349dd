import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { asDelivered } from '../../support/log-records.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { describeWith } from '../../support/optional.ts';
import { freePort } from '../../support/ports.ts';
import { hasRedis, startRedis, type RedisServer } from '../../support/redis.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const GROUP = 7;

interface Replica {
  readonly daemon: DaemonProcess;
  /** Whole lines that it printed, so far. */
  records(): LogRecord[];
  status(): Promise<Status | undefined>;
}

async function startReplica(emulator: Emulator, redisUrl: string): Promise<Replica> {
  const daemon = await startDaemonProcess({
    API_KEY: emulator.apiKey,
    BASE_URL: emulator.url,
    DEPLOYMENTS: '42@60s',
    WORKER_GROUPS: String(GROUP),
    REDIS_URL: redisUrl,
    SHUTDOWN_TIMEOUT: '5s',
  });
  return {
    daemon,
    // What a kill cut in half has no end and does not count.
    records: () =>
      daemon
        .stdout()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as LogRecord),
    status: () =>
      fetch(`${daemon.url}/api/status`).then(
        // Of one that was killed the port may be another program's by now.
        (answer) => (answer.ok ? (answer.json() as Promise<Status>) : undefined),
        () => undefined,
      ),
  };
}

/** The replica that follows the logs; waits until there is one. */
async function holderOf(replicas: readonly Replica[]): Promise<Replica> {
  let holder: Replica | undefined;
  await until(async () => {
    for (const replica of replicas) if ((await replica.status())?.replica.role === 'holder') holder = replica;
    return holder !== undefined;
  });
  return holder as Replica;
}

/** All output by number. One record may have come more than once, but only as itself. */
function merged(replicas: readonly Replica[]): { records: LogRecord[]; again: number } {
  const byNumber = new Map<number, LogRecord>();
  let again = 0;
  for (const record of replicas.flatMap((replica) => replica.records())) {
    const known = byNumber.get(record.seq);
    if (known) {
      again += 1;
      expect(record).toEqual(known);
    }
    byNumber.set(record.seq, record);
  }
  return { records: [...byNumber.values()].sort((a, b) => a.seq - b.seq), again };
}

/** More than a pipe holds. */
function burst(number: number): string[] {
  return Array.from({ length: 3_000 }, (_, index) => `burst ${number} line ${index} ${'.'.repeat(100)}`);
}

function linesOf(records: readonly LogRecord[]): string[] {
  return records.flatMap((record) => ('line' in record ? [record.line] : []));
}

describeWith(
  'redis-server',
  hasRedis,
  'apt-get install redis-server',
)('replicas with one Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  // Four sets of two replicas, each killed five times: 20 kills.
  test.concurrent.each([0, 1, 2, 3])(
    'kill -9 of the holder at five random moments, set %d: no line repeated, none lost',
    async (database) => {
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: GROUP, lines_per_second: 60 }], deployments: [{ id: 42, ttl: 60 }] },
      });
      const url = redis.url(database);
      const all = [await startReplica(emulator, url), await startReplica(emulator, url)];
      try {
        for (let kill = 0; kill < 5; kill += 1) {
          const alive = all.filter(({ daemon }) => daemon.child.exitCode === null && !daemon.child.killed);
          const holder = await holderOf(alive);
          await until(() => holder.records().length > 0);
          if (kill % 2 === 1) {
            // Nobody reads its output: it dies with records that are taken and not delivered, or half written.
            holder.daemon.child.stdout?.pause();
            emulator.workergroups.append(GROUP, burst(kill));
          }
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 2_000));
          holder.daemon.child.kill('SIGKILL');
          holder.daemon.child.stdout?.resume();
          await holder.daemon.exit;
          all.push(await startReplica(emulator, url));
        }
        const alive = all.filter(({ daemon }) => !daemon.child.killed);
        const last = await holderOf(alive);
        await until(() => last.records().length > 0);
        emulator.workergroups.setRate(GROUP, 0);
        const total = emulator.workergroups.lines(GROUP).length;
        // A gap is lines that will not come: it is told of below, and not waited for.
        await until(() => {
          const { records } = merged(all);
          return linesOf(records).length >= total || records.some((record) => 'gap' in record);
        });
        const { records, again } = merged(all);
        process.stdout.write(
          `replicas, set ${database}: 5 kills, ${records.length} records, ${again} came again under their number\n`,
        );
        expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
        expect(records.filter((record) => 'gap' in record)).toEqual([]);
        expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP)));
        expect(emulator.deployments.get(42)).toMatchObject({ expired: false, lapses: 0 });
      } finally {
        for (const { daemon } of all) await daemon[Symbol.asyncDispose]();
      }
    },
    240_000,
  );

  test.concurrent('all send heartbeats; one follows and watches, and hands over at once when it is told to stop', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    const url = redis.url(4);
    const all = [await startReplica(emulator, url), await startReplica(emulator, url)];
    try {
      const first = await holderOf(all);
      const second = all.find((replica) => replica !== first) as Replica;
      await until(async () => (await first.status())?.account !== null && first.records().length > 0);
      for (const replica of all)
        await until(async () => (await replica.status())?.deployments[0]?.state === 'healthy');
      expect(await second.status()).toMatchObject({
        replica: { role: 'standby' },
        worker_groups: [],
        account: null,
        jobs: [{ runs: 0 }, { runs: 0 }, { runs: 0 }],
      });
      expect(second.records()).toEqual([]);
      const metrics = async ({ daemon }: Replica): Promise<string> =>
        (await fetch(`${daemon.url}/metrics`)).text();
      expect(await metrics(first)).toContain('\npilotlight_replica_active 1\n');
      expect(await metrics(second)).toContain('\npilotlight_replica_active 0\n');
      const { id } = (await first.status())?.replica ?? {};
      first.daemon.child.kill('SIGTERM');
      expect(await first.daemon.exit).toBe(0);
      // Whoever does not hand over leaves its name there until the lease has run out.
      const [lease = ''] = (await redis.cli('-n', '4', 'KEYS', '*:lease')).trim().split('\n');
      expect(id).toBeTruthy();
      expect((await redis.cli('-n', '4', 'GET', lease)).trim()).not.toBe(id);
      expect((await holderOf([second])) === second).toBe(true);
      await until(async () => (await second.status())?.account !== null && second.records().length > 0);
      const { records, again } = merged(all);
      expect(again).toBe(0);
      expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, records.length)));
    } finally {
      for (const { daemon } of all) await daemon[Symbol.asyncDispose]();
    }
  }, 120_000);

  test.concurrent('a holder that was suspended finds itself replaced, and delivers nothing more', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    const url = redis.url(5);
    const all = [await startReplica(emulator, url), await startReplica(emulator, url)];
    try {
      const first = await holderOf(all);
      const second = all.find((replica) => replica !== first) as Replica;
      await until(() => first.records().length > 0);
      first.daemon.signalBoth('SIGSTOP');
      await holderOf([second]);
      await until(() => second.records().length > 0);
      const before = first.records().length;
      first.daemon.signalBoth('SIGCONT');
      await until(async () => (await first.status())?.replica.role === 'standby');
      const printed = second.records().length;
      await until(() => second.records().length > printed + 20);
      expect(first.records().length).toBe(before);
      const { records } = merged(all);
      expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, records.length)));
    } finally {
      for (const { daemon } of all) {
        daemon.signalBoth('SIGCONT');
        await daemon[Symbol.asyncDispose]();
      }
    }
  }, 120_000);
});

describeWith(
  'redis-server',
  hasRedis,
  'apt-get install redis-server',
)('a Redis that is away', () => {
  test('costs no heartbeat; once it is there the logs are followed', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: 60 }] } });
    const port = await freePort();
    const replica = await startReplica(emulator, `redis://127.0.0.1:${port}`);
    await using daemon = replica.daemon;
    await until(async () => (await replica.status())?.deployments[0]?.state === 'healthy');
    await daemon.seen(/Redis is away/);
    expect((await replica.status())?.replica.last_error).toMatch(/^Redis is away: .*ECONNREFUSED/);
    expect(replica.records()).toEqual([]);
    await using _redis = await startRedis(port);
    await until(() => replica.records().length > 0);
    daemon.child.kill('SIGTERM');
    expect(await daemon.exit).toBe(0);
  });

  test.each([
    [
      'is a copy',
      ['replicaof', '127.0.0.1', '1'],
      ['replicaof', 'no', 'one'],
      /refuses writes: .*copy.*READONLY/,
    ],
    [
      'has no memory left',
      ['config', 'set', 'maxmemory', '1'],
      ['config', 'set', 'maxmemory', '0'],
      /maxmemory.*OOM/,
    ],
    [
      'wants a password',
      ['config', 'set', 'requirepass', 'x'],
      ['config', 'set', 'requirepass', ''],
      /password.*NOAUTH/,
    ],
  ])('that %s: says so with what to do, and goes on when it is mended', async (_, harm, mend, said) => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    await using redis = await startRedis();
    await redis.cli(...harm);
    const replica = await startReplica(emulator, redis.url());
    await using daemon = replica.daemon;
    await daemon.seen(said);
    await until(async () => said.test((await replica.status())?.replica.last_error ?? ''));
    await redis.cli(...(mend[2] === 'requirepass' ? ['-a', 'x'] : []), ...mend);
    await until(() => replica.records().length > 0);
    await until(async () => (await replica.status())?.replica.last_error === null);
    // It was there all the time, and had nothing to lose.
    expect(daemon.stderr()).not.toMatch(/Redis is away|has lost/);
    expect(replica.records()[0]).toMatchObject({ epoch: 1, seq: 1 });
  });

  test.each([
    ['is no JSON', (scope: string) => ['hset', `${scope}progress`, String(GROUP), '{broken']],
    ['is of another kind', (scope: string) => ['set', `${scope}window:${GROUP}:`, 'x']],
  ])(
    'with a value that %s: says so, begins a new epoch and writes it anew',
    async (_, breakWith) => {
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
      });
      await using redis = await startRedis();
      const before = await startReplica(emulator, redis.url());
      await until(() => before.records().length > 0);
      before.daemon.child.kill('SIGTERM');
      await before.daemon.exit;
      const keys = (await redis.cli('keys', '*version')).trim();
      await redis.cli(...breakWith(keys.slice(0, -'version'.length)));
      for (const turn of ['broken', 'mended']) {
        const after = await startReplica(emulator, redis.url());
        await using daemon = after.daemon;
        if (turn === 'broken') await daemon.seen(/cannot be read/);
        await until(() => after.records().length > 0);
        expect(after.records()[0]?.epoch).toBeGreaterThan(1_000_000_000);
        daemon.child.kill('SIGTERM');
        await daemon.exit;
        if (turn === 'mended') expect(daemon.stderr()).not.toMatch(/cannot be read|has lost/);
      }
    },
    120_000,
  );

  test('that comes back empty has its state back from the last holder: no number and no line comes twice', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    const port = await freePort();
    const before = await startRedis(port);
    const all = [await startReplica(emulator, before.url()), await startReplica(emulator, before.url())];
    try {
      const holder = await holderOf(all);
      await until(() => holder.records().length > 0);
      before.program.child.kill('SIGKILL');
      await until(async () => (await holder.status())?.replica.role === 'standby');
      await using _after = await startRedis(port);
      await holderOf(all);
      const printed = merged(all).records.length;
      await until(() => merged(all).records.length > printed + 20);
      const { records, again } = merged(all);
      expect(again).toBe(0);
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
      expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, records.length)));
    } finally {
      for (const { daemon } of all) await daemon[Symbol.asyncDispose]();
      await before[Symbol.asyncDispose]();
    }
  }, 120_000);

  // Killed and started again at once, it still has the lease in its snapshot; later, the lease has run out.
  test.each([
    ['at once', false],
    ['after the lease has run out', true],
  ])(
    'that comes back in time, %s, is given what it forgot: no number and no line comes twice',
    async (_, late) => {
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
      });
      const port = await freePort();
      using folder = temporaryFolder();
      const before = await startRedis(port, folder.path);
      const all = [await startReplica(emulator, before.url()), await startReplica(emulator, before.url())];
      try {
        const holder = await holderOf(all);
        await until(() => holder.records().length > 0);
        await before.snapshot();
        const known = holder.records().length;
        await until(() => holder.records().length > known + 40);
        before.program.child.kill('SIGKILL');
        await before.program.exit;
        if (late) await until(async () => (await holder.status())?.replica.role === 'standby');
        await using _after = await startRedis(port, folder.path);
        const printed = merged(all).records.length;
        await until(() => merged(all).records.length > printed + 100);
        await until(async () => (await (await holderOf(all)).status())?.sinks[0]?.lag_lines === 0);
        const { records, again } = merged(all);
        expect(again).toBe(0);
        expect(records.map(({ seq }) => seq)).toEqual(records.map((_record, index) => index + 1));
        expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, records.length)));
      } finally {
        for (const { daemon } of all) await daemon[Symbol.asyncDispose]();
        await before[Symbol.asyncDispose]();
      }
    },
    120_000,
  );
});
