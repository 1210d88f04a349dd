import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startWatches } from '../../../../src/daemon/services/watches.ts';
import { collectedLog } from '../../../support/collected-log.ts';

/** Never while this runs: what runs is asked to. */
const YEARLY = '0 0 1 1 *';
const SETTINGS = {
  machines: [5],
  maintenanceSchedule: YEARLY,
  instancesSchedule: YEARLY,
  accountSchedule: YEARLY,
};
const NOW = Date.UTC(2026, 5, 1);

type Watches = ReturnType<typeof startWatches>;
let watches: Watches;
let asked: string[];
let lines: Record<string, unknown>[];
let fails: boolean;
let mayRun: boolean;
beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  [asked, fails, mayRun] = [[], false, true];
});
afterEach(async () => {
  await watches.stop();
  vi.useRealTimers();
});

function answered<Answer>(name: string, answer: Answer): () => Promise<Answer> {
  return async () => {
    asked.push(name);
    if (fails) throw new Error('no answer');
    return answer;
  };
}

function start(settings: Partial<typeof SETTINGS> = {}): Watches {
  const at = { start_date: NOW / 1000 + 60, end_date: NOW / 1000 + 120 };
  const window = { machine_id: 5, ...at, maintenance_category: 'power' };
  const client = {
    instances: {
      page: answered('instances', {
        instances: [
          { id: 1, actual_status: 'running', dph_total: 0.5, storage_total_cost: 0.1 },
          { id: 2, actual_status: 'exited' },
        ],
      }),
    },
    machines: { maintenances: answered('maintenance', [window]) },
    users: { current: answered('user', { tfa_status: 'enabled' }) },
    tfa: { status: answered('tfa', { tfa_enabled: true, backup_codes_remaining: 3, methods: [] }) },
  };
  const { logger, lines: written } = collectedLog();
  lines = written;
  watches = startWatches(client as never, { ...SETTINGS, ...settings }, logger, () => mayRun);
  return watches;
}

/** What is under way is done. */
async function done(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

test('each looks once at the start, and the status has what it saw', async () => {
  start();
  expect(watches.status().account).toBeNull();
  await done();
  expect(asked.toSorted()).toEqual(['instances', 'maintenance', 'tfa', 'user']);
  const { instances, account, jobs } = watches.status();
  expect(instances).toMatchObject({ running: 1, exited: 1 });
  expect(account).toEqual({
    tfa_enabled: true,
    tfa_status: 'enabled',
    backup_codes_remaining: 3,
    locked_methods: 0,
  });
  expect(jobs).toEqual(
    ['maintenance', 'instances', 'account'].map((job) => ({
      job,
      schedule: YEARLY,
      runs: 1,
      failures: 0,
      missed: 0,
      last_success_at: NOW / 1000,
      last_error: null,
    })),
  );
  expect(lines).toMatchObject([
    { instanceId: 2, status: 'exited', msg: 'instance will never run: destroy it and try again' },
  ]);
});

test('a look that fails is told, and counted', async () => {
  fails = true;
  start();
  await done();
  expect(watches.status().jobs).toMatchObject([
    { job: 'maintenance', failures: 1, last_success_at: null, last_error: 'no answer' },
    { job: 'instances', failures: 1 },
    { job: 'account', failures: 1 },
  ]);
  expect(lines).toContainEqual(
    expect.objectContaining({ job: 'account', msg: 'job failed; it runs again on schedule' }),
  );
});

test('without machines there is no maintenance to look at', async () => {
  start({ machines: [] });
  await done();
  expect(asked).not.toContain('maintenance');
  expect(watches.status().jobs[0]?.schedule).toBe('off');
});

test('a replica that was given the watches looks at everything that is not off', async () => {
  mayRun = false;
  start({ accountSchedule: 'off' });
  await done();
  expect(asked).toEqual([]);
  mayRun = true;
  watches.runNow();
  await done();
  expect(asked.toSorted()).toEqual(['instances', 'maintenance']);
});

test('settings that say the same change nothing, and others begin anew', async () => {
  start();
  await done();
  asked.length = 0;
  await watches.apply({ ...SETTINGS, machines: [5] });
  await done();
  expect(asked).toEqual([]);
  await watches.apply({ ...SETTINGS, machines: [6], instancesSchedule: 'off' });
  await done();
  expect(asked.toSorted()).toEqual(['maintenance', 'tfa', 'user']);
  expect(watches.status().jobs.map(({ schedule }) => schedule)).toEqual([YEARLY, 'off', YEARLY]);
});

test('jobs of settings that were replaced run no more', async () => {
  start({ instancesSchedule: '* * * * *' });
  await done();
  await watches.apply({ ...SETTINGS, instancesSchedule: 'off' });
  await done();
  asked.length = 0;
  await vi.advanceTimersByTimeAsync(180_000);
  expect(asked).toEqual([]);
});

test('prices are asked for where the last are ten minutes old, or a minute where one is lacking', async () => {
  start();
  await done();
  expect(watches.prices.known().get(1)).toEqual({ running: 0.5, storage: 0.1, now: 0.5 });
  const again = async (ms: number, isLacking: boolean): Promise<number> => {
    asked.length = 0;
    vi.setSystemTime(NOW + ms);
    watches.prices.refresh(isLacking);
    await done();
    return asked.length;
  };
  expect(await again(59_999, true)).toBe(0);
  expect(await again(60_000, true)).toBe(1);
  expect(await again(119_999, true)).toBe(0);
  expect(await again(659_999, false)).toBe(0);
  fails = true;
  expect(await again(660_000, false)).toBe(1);
  // Also where they were not had.
  expect(await again(719_999, true)).toBe(0);
});
