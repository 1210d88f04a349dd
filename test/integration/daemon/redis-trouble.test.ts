/** Replicas whose Redis is away, refuses, forgets, or holds what nobody can read: each test has one of its own. */
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { asDelivered } from '../../support/log-records.ts';
import { until } from '../../support/daemon.ts';
import { freePort } from '../../support/ports.ts';
import { describeWithRedis, startRedis } from '../../support/redis.ts';
import { GROUP, holderOf, linesOf, merged, startReplica } from '../../support/replicas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describeWithRedis('a Redis that is away', () => {
  test.concurrent('costs no heartbeat; once it is there the logs are followed', async () => {
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
  ])(
    'that %s: says so with what to do, and goes on when it is mended',
    async ([, harm, mend, said], { onTestFailed }) => {
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
      });
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
      expect(replica.records()[0]).toMatchObject({ epoch: 1, seq: 1 });
    },
  );

  test.concurrent('that refused writes until another replica took over: what is over is no trouble', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    await using redis = await startRedis();
    const replica = await startReplica(emulator, redis.url());
    await using daemon = replica.daemon;
    await until(() => replica.records().length > 0);
    await redis.cli('set', 'lease', 'of another replica');
    await redis.cli('config', 'set', 'maxmemory', '1');
    await daemon.seen(/maxmemory.*OOM/);
    await redis.cli('rename', 'lease', (await redis.cli('keys', '*:lease')).trim());
    await until(async () => (await replica.status())?.replica.role === 'standby');
    await until(async () => (await replica.status())?.replica.last_error === null);
  });

  test.concurrent.each([
    ['is no JSON', (scope: string) => ['hset', `${scope}progress`, String(GROUP), '{broken']],
    ['is no number', (scope: string) => ['set', `${scope}version`, 'x']],
    ['is of another kind', (scope: string) => ['set', `${scope}window:${GROUP}:`, 'x']],
  ])('with a value that %s: says so, begins a new epoch and writes it anew', async (_, breakWith) => {
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
  });

  test.concurrent('that comes back empty has its state back from the last holder: no number and no line comes twice', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 20 }], deployments: [{ id: 42, ttl: 60 }] },
    });
    const port = await freePort();
    const before = await startRedis(port);
    const all = [await startReplica(emulator, before.url()), await startReplica(emulator, before.url())];
    try {
      const holder = await holderOf(all);
      await until(() => holder.records().length > 0);
      // Who has never seen that another holds the lease takes an empty Redis for a new one, as it may be.
      await until(
        async () => ((await before.cli('client', 'list')).match(/ cmd=(?:eval|get) /g)?.length ?? 0) >= 2,
      );
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
  });

  // Killed and started again at once, it still has the lease in its snapshot; later, the lease has run out.
  test.concurrent.each([
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
  );
});
