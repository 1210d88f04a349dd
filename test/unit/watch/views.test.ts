/** What each watch makes of the answers, and of one that does not come. */
import { expect, test } from 'vitest';
import type { Output } from '../../../src/contract/operations.ts';
import {
  createAccountWatch,
  createInstancesWatch,
  createMaintenanceWatch,
} from '../../../src/watch/account.ts';

const NEVER = new AbortController().signal;
const NOW = 1_700_000_000;

/** Answers in turn; the last one again and again. */
function answering<T>(...answers: readonly (T | Error)[]) {
  let turn = 0;
  return async (): Promise<T> => {
    const answer = answers[Math.min(turn++, answers.length - 1)] as T | Error;
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

test('maintenance: earliest first, until its end, which may be unknown', async () => {
  const windows = [
    { machine_id: 8, start_time: NOW + 7_200, duration_hours: 1, maintenance_category: 'power' },
    { machine_id: 7, start_time: NOW - 3_600, duration_hours: 1.5 },
    { machine_id: 9, start_time: NOW + 9_000 },
  ] as unknown as Output<'machines.maintenances'>;
  let now = NOW;
  const asked: unknown[] = [];
  const answer = answering<Output<'machines.maintenances'>>(windows, new Error('503'));
  const watch = createMaintenanceWatch(
    { machines: { maintenances: (input) => (asked.push(input), answer()) } },
    [7, 8, 9],
    () => now,
  );
  expect(watch.view()).toEqual([]);
  await watch.run(NEVER);
  expect(asked).toEqual([{ machine_ids: [7, 8, 9] }]);
  expect(watch.view()).toEqual([
    { machine_id: 7, category: 'other', starts_at: NOW - 3_600, ends_at: NOW + 1_800 },
    { machine_id: 8, category: 'power', starts_at: NOW + 7_200, ends_at: NOW + 10_800 },
    { machine_id: 9, category: 'other', starts_at: NOW + 9_000, ends_at: null },
  ]);
  now += 1_799;
  expect(watch.view()).toHaveLength(3);
  now += 1;
  expect(watch.view().map(({ machine_id: id }) => id)).toEqual([8, 9]);
  await expect(watch.run(NEVER)).rejects.toThrow('503');
  expect(watch.view()).toHaveLength(2);
});

test('account: a method is locked until its time, and what fails leaves what was seen', async () => {
  const methods = [{ locked_until: NOW + 1 }, { locked_until: NOW }, { locked_until: null }, {}];
  const status = { tfa_enabled: false, backup_codes_remaining: 3, methods };
  const watch = createAccountWatch(
    {
      users: { current: answering({ tfa_status: 'legacy' }) },
      tfa: { status: answering(status as unknown as Output<'tfa.status'>, new Error('503')) },
    },
    () => NOW,
  );
  expect(watch.view()).toBeUndefined();
  await watch.run(NEVER);
  const seen = { tfa_enabled: false, tfa_status: 'legacy', backup_codes_remaining: 3, locked_methods: 1 };
  expect(watch.view()).toEqual(seen);
  await expect(watch.run(NEVER)).rejects.toThrow('503');
  expect(watch.view()).toEqual(seen);
});

test.each([
  [[{}], true],
  [[], false],
])('account: where the service does not say whether 2FA is on, methods do: %j', async (methods, isOn) => {
  const watch = createAccountWatch(
    {
      users: { current: answering({}) },
      tfa: { status: answering({ methods } as unknown as Output<'tfa.status'>) },
    },
    () => NOW,
  );
  await watch.run(NEVER);
  expect(watch.view()).toMatchObject({ tfa_enabled: isOn, tfa_status: null, locked_methods: 0 });
});

test('instances: counts by status, and tells once of each that will never run', async () => {
  const list = (...instances: readonly unknown[]) => ({ instances }) as unknown as Output<'instances.page'>;
  const told: unknown[] = [];
  const watch = createInstancesWatch(
    {
      instances: {
        list: answering(),
        page: answering(
          list(
            { id: 1, actual_status: 'Running', dph_total: 0.5, storage_total_cost: 0.1 },
            { id: 2, actual_status: 'exited', dph_total: null },
            { id: 3, actual_status: 'exited', intended_status: 'Stopped' },
            { id: 4, actual_status: null },
            { id: 5, actual_status: 'thinking' },
          ),
          list({ id: 2, actual_status: 'exited' }, { id: 4, actual_status: 'offline' }),
          list({ id: 2, actual_status: 'running' }),
          list({ id: 2, actual_status: 'exited' }),
        ),
      },
    },
    (instance) => told.push(instance.id),
  );
  expect(watch.view().size).toBe(0);
  await watch.run(NEVER);
  const counts = Object.fromEntries([...watch.view()].filter(([, count]) => count > 0));
  expect(counts).toEqual({ created: 1, exited: 1, running: 1, stopped: 1, thinking: 1 });
  expect(watch.view().get('offline')).toBe(0);
  expect(watch.prices().get(1)).toEqual({ running: 0.5, storage: 0.1, now: 0.5 });
  expect(watch.prices().get(2)).toEqual({ running: undefined, storage: undefined });
  expect(told).toEqual([2]);
  await watch.run(NEVER);
  expect(told).toEqual([2, 4]);
  // One that ran in between has failed anew.
  await watch.run(NEVER);
  await watch.run(NEVER);
  expect(told).toEqual([2, 4, 2]);
});

test('each asks with the signal of its run, so that it ends with it', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const seen = async (
    _input: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<never> => {
    signals.push(options?.signal);
    throw new Error('503');
  };
  const { signal } = new AbortController();
  const watches = [
    createMaintenanceWatch({ machines: { maintenances: seen } }, [7], () => NOW),
    createAccountWatch({ users: { current: seen }, tfa: { status: seen } }, () => NOW),
    createInstancesWatch({ instances: { list: seen, page: seen } }),
  ];
  for (const watch of watches) await expect(watch.run(signal)).rejects.toThrow('503');
  expect(signals).toEqual([signal, signal, signal, signal]);
});
