import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { until } from '../../support/daemon.ts';
import { asDelivered } from '../../support/log-records.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';
import {
  gapsOf,
  GROUP,
  holderOf,
  linesOf,
  merged,
  SEED,
  startReplica,
  startReplicas,
  type Replica,
} from '../../support/replicas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Each of two replicas, one of which is killed four times: 4 kills, or 24 in `npm run test:long`. */
const SETS = process.env['KILLS'] === undefined ? [0] : [0, 1, 2, 3, 4, 5];

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

  test.concurrent.each(SETS)(
    'kill -9 of the leader, set %d: no line is lost or comes twice',
    async (database) => {
      await using emulator = await startEmulator({
        seed: { ...SEED, workergroups: [{ id: GROUP, lines_per_second: 60 }] },
      });
      using folders = temporaryFolder();
      const url = redis.url(database);
      const start = (name: string) => startReplica(emulator, url, join(folders.path, name));
      /** By the name of their folder. */
      const alive = new Map([
        ['a', await start('a')],
        ['b', await start('b')],
      ]);
      const all = [...alive.values()];
      try {
        for (let kill = 0; kill < 4; kill += 1) {
          const leader = await holderOf([...alive.values()]);
          const name = alive.get('a') === leader ? 'a' : 'b';
          const before = merged(all).records.length;
          await until(() => merged(all).records.length > before + 60);
          const isStuck = kill % 2 === 1;
          if (isStuck) {
            // Nobody reads its output: it dies with records that are taken and not delivered, or half written.
            leader.daemon.child.stdout?.pause();
            emulator.workergroups.append(GROUP, burst(kill));
            await until(async () => ((await leader.status())?.sinks[0]?.lag_lines ?? 0) > 500);
          }
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 2_000));
          const gaps = gapsOf(merged(all).records).length;
          leader.daemon.signalBoth('SIGKILL');
          leader.daemon.child.stdout?.resume();
          await leader.daemon.exit;
          alive.delete(name);
          const next = await holderOf([...alive.values()]);
          await until(() => next.records().length > 0 && merged(all).records.length > before + 61);
          if (isStuck) {
            await until(() => gapsOf(merged(all).records).length > gaps);
            expect(gapsOf(merged(all).records).at(-1)).toMatchObject({ reason: 'handover', lost_min: 0 });
          }
          const again = await start(name);
          alive.set(name, again);
          all.push(again);
        }
        emulator.workergroups.setRate(GROUP, 0);
        const total = emulator.workergroups.lines(GROUP).length;
        await until(() => linesOf(merged(all).records).length >= total);
        const { records, again } = merged(all);
        process.stdout.write(
          `replicas, set ${database}: 4 kills, ${records.length} records, ${gapsOf(records).length} handovers marked, ${again} came again under their number\n`,
        );
        expect(new Set(records.map(({ epoch }) => epoch)).size).toBe(1);
        expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
        expect(gapsOf(records).every(({ reason }) => reason === 'handover')).toBe(true);
        expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP)));
        expect(emulator.deployments.get(42)).toMatchObject({ expired: false, lapses: 0 });
      } finally {
        for (const { daemon } of all) await daemon[Symbol.asyncDispose]();
      }
    },
  );

  test.concurrent('all send heartbeats; one follows and watches, and hands over at once and without a gap when it is told to stop', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    const url = redis.url(14);
    await using all = await startReplicas(emulator, url);
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
    expect(await first.daemon.metrics()).toContain('\npilotlight_replica_active 1\n');
    expect(await second.daemon.metrics()).toContain('\npilotlight_replica_active 0\n');
    const [key = ''] = (await redis.cli('-n', '14', 'KEYS', '*:lease')).trim().split('\n');
    const token = await redis.cli('-n', '14', 'GET', key);
    first.daemon.child.kill('SIGTERM');
    expect(await first.daemon.exit).toBe(0);
    // A replica that does not hand over leaves its token there until the lease has run out.
    expect(await redis.cli('-n', '14', 'GET', key)).not.toBe(token);
    expect((await holderOf([second])) === second).toBe(true);
    await until(async () => (await second.status())?.account !== null && second.records().length > 0);
    const { records, again } = merged(all);
    expect([again, gapsOf(records)]).toEqual([0, []]);
    expect(linesOf(records)).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, records.length)));
    const values = (await redis.cli('-n', '14', 'KEYS', '*')).trim().split('\n');
    expect(values).toHaveLength(3);
    for (const value of values.filter((name) => name.includes(':log:')))
      expect(Number(await redis.cli('-n', '14', 'STRLEN', value))).toBeLessThanOrEqual(16_384);
  });

  test.concurrent('a leader that was suspended finds itself replaced, and takes and delivers nothing more', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    const url = redis.url(15);
    await using all = await startReplicas(emulator, url);
    const first = await holderOf(all);
    const second = all.find((replica) => replica !== first) as Replica;
    await until(() => first.records().length > 0);
    first.daemon.signalBoth('SIGSTOP');
    // A process that is suspended would outlive the test.
    using _resumed = { [Symbol.dispose]: () => first.daemon.signalBoth('SIGCONT') };
    await holderOf([second]);
    await until(() => second.records().length > 0);
    const before = first.records().length;
    first.daemon.signalBoth('SIGCONT');
    await until(async () => (await first.status())?.replica.role === 'standby');
    const printed = second.records().length;
    await until(() => second.records().length > printed + 20);
    // What it had taken and not delivered when it was suspended is its own, and is marked.
    const { records, again } = merged(all);
    const marked = gapsOf(records).reduce((sum, { lost_estimate }) => sum + (lost_estimate ?? 0), 0);
    expect(first.records().length - before).toBeLessThanOrEqual(marked);
    expect(again).toBe(0);
    const lines = linesOf(records);
    expect(lines).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, lines.length)));
  });
});
