import { expect, test } from 'vitest';
import type { Settings } from '../../../../src/config/options.ts';
import { createReplicatedLogs } from '../../../../src/daemon/replicas/replicated-logs.ts';
import type { SharedSpool } from '../../../../src/daemon/replicas/shared-spool.ts';
import type { LogFollowing } from '../../../../src/daemon/services/logs/following.ts';
import { settingsOf } from '../../../support/settings.ts';

function settings(groups: string): Settings {
  return settingsOf({ PILOTLIGHT_WORKER_GROUPS: groups });
}

function replicated() {
  const happened: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  let isSlow = false;
  const spool = {
    version: 5,
    settled: async () => void happened.push('spool settled'),
  } as unknown as SharedSpool;
  const logs = createReplicatedLogs(settings('7'), async (now, openSpool): Promise<LogFollowing> => {
    happened.push(['follows', now.workerGroups.length]);
    openSpool(['stdout'], () => {});
    if (isSlow) await gate.promise;
    return {
      status: () => ({ worker_groups: [], endpoint_logs: [], sinks: [], spool_durable: null }),
      apply: async (next) => void happened.push(['applies', next.workerGroups.length]),
      beginStop: (deadline) => happened.push(['stops', (deadline.reason as Error).message]),
      stopped: async () => void happened.push('stopped'),
    };
  });
  const takeOver = () =>
    logs.takeOver((sinks) => {
      happened.push(['opens', sinks]);
      return spool;
    });
  return { logs, happened, spool, takeOver, gate, slowly: () => (isSlow = true) };
}

const GONE = 'the lease has gone to another replica';

test('before it takes over nothing is followed', async () => {
  const { logs, happened } = replicated();
  expect(logs.status()).toEqual({ worker_groups: [], endpoint_logs: [], sinks: [], spool_durable: true });
  expect([logs.version(), await logs.standDown(), happened]).toEqual([undefined, undefined, []]);
  await logs.stopped();
});

test('it follows with the lease, what is configured by then, and ends with it', async () => {
  const { logs, happened, spool, takeOver } = replicated();
  await logs.apply(settings('7,8'));
  await takeOver();
  expect(logs.version()).toBe(5);
  expect(logs.status().spool_durable).toBeNull();
  await logs.apply(settings('7,8,9'));
  expect(await logs.standDown()).toBe(spool);
  expect(happened).toEqual([
    ['follows', 2],
    ['opens', ['stdout']],
    ['applies', 3],
    ['stops', GONE],
    'stopped',
    'spool settled',
  ]);
  expect([logs.version(), logs.status().spool_durable]).toEqual([undefined, true]);
  await takeOver();
  expect(happened.at(-2)).toEqual(['follows', 3]);
});

test('the end ends it once, and nothing is taken over after it', async () => {
  const { logs, happened, takeOver } = replicated();
  await takeOver();
  const deadline = AbortSignal.abort(new Error('the end'));
  logs.beginStop(deadline);
  logs.beginStop(deadline);
  await logs.stopped();
  expect(happened.slice(2)).toEqual([['stops', 'the end'], 'stopped', 'spool settled']);
  await expect(takeOver()).rejects.toThrow('stopping');
});

test('what is still taken over at the end is ended', async () => {
  const { logs, happened, takeOver, gate, slowly } = replicated();
  slowly();
  const taken = takeOver();
  logs.beginStop(AbortSignal.abort(new Error('the end')));
  await logs.stopped();
  gate.resolve();
  await taken;
  expect(happened.slice(2)).toEqual([['stops', 'stopping'], 'stopped', 'spool settled']);
  expect(logs.version()).toBeUndefined();
});
