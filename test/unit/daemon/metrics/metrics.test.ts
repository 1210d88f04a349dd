import { expect, test } from 'vitest';
import { createMetrics } from '../../../../src/daemon/metrics.ts';
import type { JobStatus, Status } from '../../../../src/daemon/status/schema.ts';
import { EMPTY_LOG, EMPTY_STATUS } from '../../../support/empty-status.ts';
import { expositionOf } from '../../../support/exposition.ts';

const account = { tfa_enabled: true, tfa_status: null, backup_codes_remaining: 3, locked_methods: 0 };

function job(name: string, runs: number): JobStatus {
  const counts = { runs, failures: 0, missed: 0 };
  return { job: name, schedule: 'off', ...counts, last_success_at: null, last_error: null };
}

/** Each scrape shows the next of these, and the last of them from then on. */
function metricsOf(first: Partial<Status>, ...others: readonly Partial<Status>[]) {
  const statuses = [first, ...others];
  let last = first;
  return createMetrics(() => ({ ...EMPTY_STATUS, ...(last = statuses.shift() ?? last) }), []);
}

function seriesIn(text: string, name: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(`pilotlight_${name}`));
}

test('a family without series is announced all the same', async () => {
  const text = await expositionOf(metricsOf({}));
  expect(text).toContain(
    '# HELP pilotlight_instances Instances of the account by status; stopped: not running, as they are meant to.\n# TYPE pilotlight_instances gauge\n',
  );
  expect(seriesIn(text, 'instances')).toEqual([]);
});

test('what is gone from the status has no series any more, whether it has labels or not', async () => {
  const metrics = metricsOf({ account, instances: { running: 2, exited: 1 } }, { instances: { running: 1 } });
  const before = await expositionOf(metrics);
  expect(seriesIn(before, 'instances{')).toEqual([
    'pilotlight_instances{status="running"} 2',
    'pilotlight_instances{status="exited"} 1',
  ]);
  expect(seriesIn(before, 'tfa_backup_codes_remaining')).toEqual(['pilotlight_tfa_backup_codes_remaining 3']);
  const after = await expositionOf(metrics);
  expect(seriesIn(after, 'instances{')).toEqual(['pilotlight_instances{status="running"} 1']);
  expect(seriesIn(after, 'tfa_backup_codes_remaining')).toEqual([]);
});

test('a counter has the value that the status has, however often it is scraped', async () => {
  const heart = { ...EMPTY_STATUS.heart, daemon_restarts: 2 };
  const metrics = metricsOf({ heart, jobs: [job('account', 5)] });
  await expositionOf(metrics);
  const text = await expositionOf(metrics);
  expect(seriesIn(text, 'daemon_restarts_total')).toEqual(['pilotlight_daemon_restarts_total 2']);
  expect(seriesIn(text, 'job_runs_total')).toEqual(['pilotlight_job_runs_total{job="account"} 5']);
});

test('of two samples with the same labels the later one counts', async () => {
  const window = { machine_id: 7, category: 'power', starts_at: 10, ends_at: 20 };
  const metrics = metricsOf({ maintenance_windows: [window, { ...window, starts_at: 30 }] });
  const text = await expositionOf(metrics);
  expect(seriesIn(text, 'maintenance_window_start')).toEqual([
    'pilotlight_maintenance_window_start_timestamp_seconds{machine_id="7",category="power"} 30',
  ]);
});

test('label values are escaped, and numbers spelled, as the format asks', async () => {
  const parameters = { cold_mult: 1e21, max_workers: Infinity };
  const endpoint_groups = [{ endpoint_group: 'a"b\\c\nd', parameters, findings: [] }];
  const text = await expositionOf(metricsOf({ endpoint_groups }));
  const labels = (parameter: string): string => `{parameter="${parameter}",endpoint_group="a\\"b\\\\c\\nd"}`;
  expect(seriesIn(text, 'endpoint_group_parameter').toSorted()).toEqual([
    `pilotlight_endpoint_group_parameter${labels('cold_mult')} 1e+21`,
    `pilotlight_endpoint_group_parameter${labels('max_workers')} +Inf`,
  ]);
});

test('a scrape shows one moment, which scrapes at the same time share, and the next one its own', async () => {
  const moment = (nth: number): Partial<Status> => ({ version: `v${nth}`, jobs: [job('account', nth)] });
  const metrics = metricsOf(moment(1), moment(2));
  const shown = (text: string): unknown[] => [
    /version="(v\d)"/.exec(text)?.[1],
    ...seriesIn(text, 'job_runs_total'),
  ];
  const texts = await Promise.all([expositionOf(metrics), expositionOf(metrics)]);
  for (const text of texts) expect(shown(text)).toEqual(['v1', 'pilotlight_job_runs_total{job="account"} 1']);
  expect(shown(await expositionOf(metrics))).toEqual(['v2', 'pilotlight_job_runs_total{job="account"} 2']);
});

test('the event loop has its turns while much is written', async () => {
  const groups = Array.from({ length: 20_000 }, (_, id) => ({ ...EMPTY_LOG, workergroup_id: id }));
  const metrics = metricsOf({ worker_groups: groups });
  let turns = 0;
  let isOver = false;
  const turn = (): unknown => setImmediate(() => ((turns += 1), isOver || turn()));
  turn();
  await metrics.exposition();
  isOver = true;
  // There are ten families of groups.
  expect(turns).toBeGreaterThan(5);
});

test('times are seconds: requests, waits that were asked for, lags', async () => {
  const metrics = metricsOf({});
  const operation = 'deployments.heartbeat';
  metrics.client.exchange?.({ operation, code: '200', durationMs: 1_500, serverDate: undefined });
  metrics.client.retry?.({ operation, waitMs: 2_500, throttled: true });
  metrics.client.retry?.({ operation, waitMs: 9_000, throttled: false });
  metrics.schedulingLag(250);
  const text = await expositionOf(metrics);
  const label = `{operation="${operation}"}`;
  expect(seriesIn(text, 'api_request_duration_seconds_sum')).toEqual([
    `pilotlight_api_request_duration_seconds_sum${label} 1.5`,
  ]);
  expect(seriesIn(text, 'api_throttle_wait_seconds_total')).toEqual([
    'pilotlight_api_throttle_wait_seconds_total 2.5',
  ]);
  expect(seriesIn(text, 'api_retries_total')).toEqual([`pilotlight_api_retries_total${label} 2`]);
  expect(seriesIn(text, 'heartbeat_scheduling_lag_seconds_sum')).toEqual([
    'pilotlight_heartbeat_scheduling_lag_seconds_sum 0.25',
  ]);
});

test('a load of the configuration that fails leaves the time of the last that did not', async () => {
  const metrics = metricsOf({});
  metrics.reloaded(true, 100);
  metrics.reloaded(false, 200);
  expect(seriesIn(await expositionOf(metrics), 'config_last_reload')).toEqual([
    'pilotlight_config_last_reload_successful 0',
    'pilotlight_config_last_reload_success_timestamp_seconds 100',
  ]);
});
