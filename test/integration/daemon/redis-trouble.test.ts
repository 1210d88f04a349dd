/** Replicas whose Redis is away, refuses, forgets, or holds what nobody can read: each test has one of its own. */
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { asDelivered } from '../../support/log-records.ts';
import { until } from '../../support/daemon.ts';
import { listening } from '../../support/listening.ts';
import { freePort } from '../../support/ports.ts';
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

/** Both replicas have asked for the lease: one that has never seen Redis cannot know that it lost something. */
async function askedByBoth(redis: RedisServer): Promise<void> {
  await until(async () => ((await redis.cli('client', 'list')).match(/ cmd=eval /g) ?? []).length >= 2);
}

/** Each number is there once, and each line. */
function expectWhole(replicas: readonly Replica[], emulator: Emulator): void {
  const { records, again } = merged(replicas);
  expect([again, records.map(({ seq }) => seq)]).toEqual([0, records.map((_, index) => index + 1)]);
  const lines = linesOf(records);
  expect(lines).toEqual(asDelivered(emulator.workergroups.lines(GROUP, 0, lines.length)));
}

describeWithRedis('a Redis', () => {
  test.concurrent('that is away costs no heartbeat; once it is there the logs are followed', async () => {
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

  test.concurrent.for<[string, harm: string[], mend: string[], said: RegExp]>([
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
  ])('that %s says what to do, and goes on once mended', async ([, harm, mend, said], { onTestFailed }) => {
    await using emulator = await startEmulator({ seed: SEED });
    await using redis = await startRedis();
    await redis.cli(...harm);
    const replica = await startReplica(emulator, redis.url());
    await using daemon = replica.daemon;
    // It has been seen to hang once, on a busy machine, and not again.
    onTestFailed(() => void process.stderr.write(daemon.stderr()));
    await daemon.seen(said);
    await until(async () => said.test((await replica.status())?.replica.last_error ?? ''));
    await redis.cli(...(mend[2] === 'requirepass' ? ['-a', 'x'] : []), ...mend);
    await until(() => replica.records().length > 0);
    await until(async () => (await replica.status())?.replica.last_error === null);
    // It was there all the time, and had nothing to lose.
    expect(daemon.stderr()).not.toMatch(/Redis is away|has lost/);
    expect(replica.records()[0]).toMatchObject({ seq: 1, line: expect.any(String) });
  });

  test.concurrent('that refused writes until another replica took over: what is over is no trouble', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    await using redis = await startRedis();
    const replica = await startReplica(emulator, redis.url());
    await using daemon = replica.daemon;
    await until(() => replica.records().length > 0);
    // It may run out before the next command reaches a busy Redis.
    const lease = (await redis.cli('keys', '*:lease')).trim();
    await redis.cli('set', 'lease', '1');
    await redis.cli('config', 'set', 'maxmemory', '1');
    await daemon.seen(/maxmemory.*OOM/);
    await redis.cli('rename', 'lease', lease);
    await until(async () => (await replica.status())?.replica.role === 'standby');
    await until(async () => (await replica.status())?.replica.last_error === null);
  });

  test.concurrent('that comes back empty when the lease has run out: no line comes twice, no number is used twice, and a doubt is marked', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    const port = await freePort();
    await using before = await startRedis(port);
    await using all = await startReplicas(emulator, before.url());
    const leader = await holderOf(all);
    await until(() => leader.records().length > 40);
    await askedByBoth(before);
    before.program.child.kill('SIGKILL');
    await before.program.exit;
    await until(async () => (await leader.status())?.replica.role === 'standby');
    await using _after = await startRedis(port);
    const printed = merged(all).records.length;
    await until(() => merged(all).records.length > printed + 100);
    await until(async () => (await (await holderOf(all)).status())?.sinks[0]?.lag_lines === 0);
    expectWhole(all, emulator);
    expect(gapsOf(merged(all).records).map(({ reason }) => reason)).toContain('reset');
  });

  test.concurrent('that comes back in time without the last leader: what comes again is behind a reset record', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    const port = await freePort();
    using folder = temporaryFolder();
    await using before = await startRedis(port, folder.path);
    await using all = await startReplicas(emulator, before.url());
    await holderOf(all);
    await until(() => merged(all).records.length > 0);
    await askedByBoth(before);
    await before.snapshot();
    const known = merged(all).records.length;
    await until(() => merged(all).records.length > known + 40);
    // On a busy machine the lease may have moved meanwhile.
    const leader = await holderOf(all);
    const other = all.find((replica) => replica !== leader);
    before.program.child.kill('SIGKILL');
    leader.daemon.signalBoth('SIGKILL');
    await before.program.exit;
    const epochs = new Set(merged(all).records.map(({ epoch }) => epoch));
    await using _after = await startRedis(port, folder.path);
    // What the other took while it led, if it ever did, may still come before.
    const ofNewEpoch = () => other?.records().find(({ epoch }) => !epochs.has(epoch));
    await until(() => ofNewEpoch() !== undefined);
    expect(ofNewEpoch()).toMatchObject({ gap: { reason: 'reset' } });
    expect(merged(all).again).toBe(0);
  });

  test.concurrent('that fails over behind one address: the connection to the old primary is left, and nothing comes twice', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    await using first = await startRedis();
    await using second = await startRedis();
    const portOf = (server: RedisServer): string => new URL(server.url()).port;
    await second.cli('replicaof', '127.0.0.1', portOf(first));
    let primary = first;
    const address = createServer((socket) => {
      const to = connect(Number(portOf(primary)), '127.0.0.1');
      socket.on('error', () => to.destroy()).on('close', () => to.destroy());
      to.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.pipe(to).pipe(socket);
    });
    await using own = await listening(address);
    const replica = await startReplica(emulator, `redis://127.0.0.1:${own.port}/0`);
    await using _daemon = replica.daemon;
    await until(() => replica.records().length > 20);
    await second.cli('replicaof', 'no', 'one');
    primary = second;
    await first.cli('replicaof', '127.0.0.1', portOf(second));
    const printed = replica.records().length;
    await until(() => replica.records().length > printed + 60);
    expectWhole([replica], emulator);
  });
});
