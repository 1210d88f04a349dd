import { expect, test } from 'vitest';
import { createMetrics } from '../../../../src/daemon/metrics.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import type { Status } from '../../../../src/daemon/status/schema.ts';
import type { FleetView } from '../../../../src/fleet/view.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { expositionOf } from '../../../support/exposition.ts';
import { endpointView, fleetView, sampleAt, UNSEEN, WATCH_ALL } from '../../../support/recorded-fleet.ts';

const NOW = 1_000_000;

function metricsOf(view: FleetView, budgetPerHour?: number) {
  const shown = { view };
  const metrics = createMetrics((): Status => {
    const settings = { ...WATCH_ALL, budgetPerHour };
    return { ...EMPTY_STATUS, now: NOW, fleet: fleetStatus(shown.view, settings) };
  }, []);
  return {
    observe: metrics.fleet,
    show: (next: FleetView) => (shown.view = next),
    series: async (name: string): Promise<string[]> => {
      const text = await expositionOf(metrics);
      return text
        .split('\n')
        .filter((line) => line.startsWith(`pilotlight_${name}`))
        .map((line) => line.replace('pilotlight_', ''));
    },
  };
}

/** Seen so many seconds ago. */
function seen(secondsAgo: number, over: Parameters<typeof endpointView>[0] = {}) {
  return endpointView(over, (NOW - secondsAgo) * 1000);
}

test('an endpoint that was just seen has all its series, with a zero for each status that has no workers', async () => {
  const told = sampleAt(0, { spend_told_per_hour: 3.3 });
  const { series } = metricsOf(fleetView([seen(3, { sample: told })]));
  const label = 'endpoint_group="chat"';
  expect(await series('endpoint_load')).toEqual([
    `endpoint_load{${label}} 42`,
    `endpoint_load_meaning{meaning="in flight",${label}} 0`,
    `endpoint_load_meaning{meaning="rate",${label}} 1`,
    `endpoint_load_meaning{meaning="unknown",${label}} 0`,
  ]);
  expect(await series('endpoint_capacity')).toEqual([
    `endpoint_capacity{state="hot",${label}} 60`,
    `endpoint_capacity{state="cold",${label}} 100`,
  ]);
  expect(await series('endpoint_requests_working')).toEqual([`endpoint_requests_working{${label}} 12`]);
  expect(await series('endpoint_spend_per_hour')).toEqual([
    `endpoint_spend_per_hour{source="told",${label}} 3.3`,
    `endpoint_spend_per_hour{source="estimated",${label}} 3.2`,
  ]);
  expect(await series('endpoint_idle_spend_per_hour')).toEqual([
    `endpoint_idle_spend_per_hour{state="idle",${label}} 0.8`,
    `endpoint_idle_spend_per_hour{state="starting",${label}} 0.4`,
  ]);
  const workers = await series('endpoint_workers');
  expect(workers).toHaveLength(20);
  expect(workers).toContain(`endpoint_workers{status="stopped",${label}} 10`);
  expect(workers).toContain(`endpoint_workers{status="unknown",${label}} 0`);
  expect(await series('endpoint_parameter')).toContain(
    `endpoint_parameter{parameter="max_workers",${label}} 20`,
  );
  expect(await series('endpoint_last_sample')).toEqual([
    `endpoint_last_sample_timestamp_seconds{${label}} ${NOW - 3}`,
  ]);
  expect(await series('endpoint_violations')).toHaveLength(3);
  expect(await series('endpoint_worker_errors_total')).toEqual([`endpoint_worker_errors_total{${label}} 0`]);
  expect(await series('endpoint_worker_start_seconds_count')).toEqual([
    `endpoint_worker_start_seconds_count{${label},from="new"} 0`,
    `endpoint_worker_start_seconds_count{${label},from="cold"} 0`,
  ]);
});

test('what is not known has no series: null is no zero', async () => {
  const unpriced = { spend_per_hour: null, spend_told_per_hour: null };
  const nothing = { load: null, capacity_hot: null, capacity_cold: 5, ...unpriced };
  const { series } = metricsOf(fleetView([seen(3, { sample: sampleAt(0, nothing), parameters: {} })]));
  expect(await series('endpoint_load{')).toEqual([]);
  expect(await series('endpoint_load_in_flight')).toEqual([]);
  for (const name of [
    'endpoint_spend_per_hour',
    'endpoint_spend_today',
    'orphan_instances',
    'fleet_spend_month',
  ])
    expect(await series(name)).toEqual([]);
  expect(await series('endpoint_capacity')).toEqual([
    'endpoint_capacity{state="cold",endpoint_group="chat"} 5',
  ]);
  expect(await series('endpoint_violations')).toEqual([]);
  expect(await series('fleet_budget_per_hour')).toEqual([]);
});

test('an endpoint that was never seen has a time of 0 and no figures', async () => {
  const { series } = metricsOf(fleetView([endpointView(UNSEEN)]));
  expect(await series('endpoint_last_sample')).toEqual([
    'endpoint_last_sample_timestamp_seconds{endpoint_group="chat"} 0',
  ]);
  for (const name of ['endpoint_workers', 'endpoint_load', 'endpoint_stuck', 'endpoint_failing'])
    expect(await series(name)).toEqual([]);
});

test.each([
  [60, 1],
  [61, 0],
])('figures of a sample that is %i s old have %i series: four intervals of 15 s', async (age, count) => {
  const { series } = metricsOf(fleetView([seen(age)]));
  expect(await series('endpoint_load{')).toHaveLength(count);
  expect(await series('endpoint_stuck_workers')).toHaveLength(count);
  expect(await series('endpoint_last_sample')).toHaveLength(1);
});

test('what happens to workers is counted, also before the first scrape', async () => {
  const { observe, series } = metricsOf(fleetView([seen(3)]));
  observe({ kind: 'worker started', endpoint: 'chat', from: 'cold', seconds: 7 });
  observe({ kind: 'worker failed', endpoint: 'chat', workerId: 9 });
  observe({ kind: 'worker failed', endpoint: 'chat', workerId: 9 });
  const label = 'endpoint_group="chat"';
  expect(await series('endpoint_worker_errors_total')).toEqual([`endpoint_worker_errors_total{${label}} 2`]);
  const buckets = await series('endpoint_worker_start_seconds_bucket{le=');
  expect(buckets).toContain(`endpoint_worker_start_seconds_bucket{le="5",${label},from="cold"} 0`);
  expect(buckets).toContain(`endpoint_worker_start_seconds_bucket{le="10",${label},from="cold"} 1`);
  expect(buckets).toContain(`endpoint_worker_start_seconds_bucket{le="3600",${label},from="new"} 0`);
});

test('the series of an endpoint end with it, those of its workers too', async () => {
  const { observe, show, series } = metricsOf(fleetView([seen(3), seen(3, { endpoint: 'code' })]));
  observe({ kind: 'worker failed', endpoint: 'code', workerId: 9 });
  expect(await series('endpoint_worker_errors_total')).toHaveLength(2);
  show(fleetView([seen(3)]));
  expect((await series('endpoint_')).filter((line) => line.includes('"code"'))).toEqual([]);
  show(fleetView([seen(3), seen(3, { endpoint: 'code' })]));
  expect(await series('endpoint_worker_errors_total')).toContain(
    'endpoint_worker_errors_total{endpoint_group="code"} 0',
  );
});

test('drift names its parameters, findings are counted, and a budget is shown where there is one', async () => {
  const finding = {
    rule: 'r',
    severity: 'warning',
    parameter: 'p',
    got: 1,
    allowed: 'less',
    message: 'm',
  } as const;
  const drift = [{ parameter: 'target_util', actual: 0.8, wanted: 0.9 }];
  const { series } = metricsOf(
    fleetView([seen(3, { drift, findings: [finding], stuckWorkers: 2, failingWorkers: 3 })]),
    20,
  );
  expect(await series('endpoint_parameter_drift')).toEqual([
    'endpoint_parameter_drift{parameter="target_util",endpoint_group="chat"} 1',
  ]);
  expect(await series('endpoint_violations')).toContain(
    'endpoint_violations{severity="warning",endpoint_group="chat"} 1',
  );
  expect(await series('endpoint_stuck_workers')).toEqual(['endpoint_stuck_workers{endpoint_group="chat"} 2']);
  expect(await series('endpoint_failing')).toEqual(['endpoint_failing_workers{endpoint_group="chat"} 3']);
  expect(await series('fleet_budget_per_hour')).toEqual(['fleet_budget_per_hour 20']);
  expect(await series('fleet_sample_interval')).toEqual(['fleet_sample_interval_seconds 15']);
});

test('a trouble is 1 while it lasts and 0 if not, and absent if it cannot be judged or the sample is old', async () => {
  const troubles = { churn: { severity: 'warning', sinceMs: 0, says: 'x' }, flapping: null } as const;
  const lasting = seen(3, { troubles });
  const { series, show } = metricsOf(fleetView([lasting]));
  expect(await series('endpoint_trouble')).toEqual([
    'endpoint_trouble{trouble="churn",endpoint_group="chat"} 1',
    'endpoint_trouble{trouble="flapping",endpoint_group="chat"} 0',
  ]);
  show(fleetView([{ ...lasting, sampledAtMs: 0 }]));
  expect(await series('endpoint_trouble')).toEqual([]);
});

test('who looks, and whether the history takes what is seen, is told by each replica', async () => {
  const { series, show } = metricsOf(fleetView([seen(3)]));
  expect(await series('fleet_samples')).toEqual(['fleet_samples 1']);
  expect(await series('fleet_history_stored')).toEqual(['fleet_history_stored 1']);
  show({ ...fleetView([seen(3)]), historyTrouble: 'the disk is full' });
  expect(await series('fleet_history_stored')).toEqual(['fleet_history_stored 0']);
  show({ ...fleetView([]), samples: false });
  expect(await series('fleet_samples')).toEqual(['fleet_samples 0']);
  expect(await series('fleet_history_stored')).toEqual([]);
  const metrics = createMetrics(() => EMPTY_STATUS, []);
  expect(await expositionOf(metrics)).not.toMatch(/^pilotlight_fleet_(?:samples|history_stored)/m);
});
