import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { asDelivered } from '../../support/log-records.ts';
import { until } from '../../support/daemon.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';
import { GROUP, holderOf, linesOf, merged, startReplica, type Replica } from '../../support/replicas.ts';

/** Each of two replicas, one of which is killed five times: 10 kills, or 30 in `npm run test:long`. */
const SETS = process.env['KILLS'] === undefined ? 2 : 6;

/** More than a pipe holds. */
function burst(number: number): string[] {
  return Array.from({ length: 3_000 }, (_, index) => `burst ${number} line ${index} ${'.'.repeat(100)}`);
}

describeWithRedis('replicas with one Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  test.concurrent.each(Array.from({ length: SETS }, (_, set) => set))(
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
  );

  test.concurrent('all send heartbeats; one follows and watches, and hands over at once when it is told to stop', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    const url = redis.url(14);
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
      const [lease = ''] = (await redis.cli('-n', '14', 'KEYS', '*:lease')).trim().split('\n');
      expect(id).toBeTruthy();
      expect((await redis.cli('-n', '14', 'GET', lease)).trim()).not.toBe(id);
      expect((await holderOf([second])) === second).toBe(true);
      await until(async () => (await second.status())?.account !== null && second.records().length > 0);
      const { records, again } = merged(all);
      expect(again).toBe(0);
      expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, records.length)));
    } finally {
      for (const { daemon } of all) await daemon[Symbol.asyncDispose]();
    }
  });

  test.concurrent('a holder that was suspended finds itself replaced, and delivers nothing more', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    const url = redis.url(15);
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
  });
});
