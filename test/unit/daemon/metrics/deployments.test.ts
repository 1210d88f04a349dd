import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { createMetrics } from '../../../../src/daemon/metrics.ts';
import { deploymentStatus } from '../../../../src/daemon/status/deployment.ts';
import { FAILURE_LABELS, type FailureLabel } from '../../../../src/heartbeat/engine/state.ts';
import { DEPLOYMENT_STATES, type DeploymentSnapshot } from '../../../../src/heartbeat/view/snapshot.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { expositionOf } from '../../../support/exposition.ts';

const count = fc.oneof(fc.constant(0), fc.nat());
const time = fc.double({ min: 0, max: 2e12, noNaN: true });
const noFailures = Object.fromEntries(FAILURE_LABELS.map((label) => [label, 0])) as Record<
  FailureLabel,
  number
>;
/** Mostly none, often a few, sometimes many. */
const failed = fc.oneof({ arbitrary: fc.constant(0), weight: 10 }, fc.constant(1), fc.nat());
const failures = fc.oneof(
  fc.constant(noFailures),
  fc.record(
    Object.fromEntries(FAILURE_LABELS.map((label) => [label, failed])) as Record<FailureLabel, typeof failed>,
  ),
);
const anySnapshot: fc.Arbitrary<DeploymentSnapshot> = fc.record(
  {
    deploymentId: fc.nat(),
    state: fc.constantFrom(...DEPLOYMENT_STATES),
    ttlMs: time,
    intervalMs: time,
    lastSuccessAt: time,
    nextBeatAt: time,
    expiresAt: time,
    minMarginRatio: fc.double({ min: -5, max: 1, noNaN: true }).filter((ratio) => !Object.is(ratio, -0)),
    lapses: count,
    attempts: count,
    failures,
    timeline: fc.constant([]),
  },
  { requiredKeys: ['deploymentId', 'state', 'intervalMs', 'lapses', 'attempts', 'failures', 'timeline'] },
);
const anySnapshots = fc.uniqueArray(anySnapshot, {
  maxLength: 5,
  selector: ({ deploymentId }) => deploymentId,
});

/** The series of deployments in a scrape, by what comes before the value. */
async function seriesOfScrape(snapshots: readonly DeploymentSnapshot[]): Promise<Map<string, number>> {
  const deployments = snapshots.map((snapshot) => deploymentStatus(snapshot));
  const text = await expositionOf(createMetrics(() => ({ ...EMPTY_STATUS, deployments }), []));
  const lines = text.split('\n').filter((line) => line.startsWith('pilotlight_deployment_'));
  const series = new Map(lines.map((line) => line.split(' ') as [string, string]));
  expect(series.size).toBe(lines.length);
  return new Map([...series].map(([name, value]) => [name, Number(value)]));
}

/** What the metrics are to say of a deployment. */
function seriesOf(snapshot: DeploymentSnapshot): [string, number][] {
  const id = `deployment_id="${snapshot.deploymentId}"`;
  const numbers: [string, number | undefined][] = [
    ['ttl_seconds', snapshot.ttlMs === undefined ? undefined : snapshot.ttlMs / 1000],
    ['heartbeat_interval_seconds', snapshot.intervalMs / 1000],
    ['heartbeats_total', snapshot.attempts],
    ['last_heartbeat_success_timestamp_seconds', (snapshot.lastSuccessAt ?? 0) / 1000],
    [
      'next_heartbeat_timestamp_seconds',
      snapshot.nextBeatAt === undefined ? undefined : snapshot.nextBeatAt / 1000,
    ],
    ['expiry_timestamp_seconds', snapshot.expiresAt === undefined ? undefined : snapshot.expiresAt / 1000],
    ['min_margin_ratio', snapshot.minMarginRatio],
    ['lapses_total', snapshot.lapses],
  ];
  return [
    ...numbers.flatMap(([name, value]): [string, number][] =>
      value === undefined ? [] : [[`pilotlight_deployment_${name}{${id}}`, value]],
    ),
    ...FAILURE_LABELS.map((reason): [string, number] => [
      `pilotlight_deployment_heartbeat_failures_total{reason="${reason}",${id}}`,
      snapshot.failures[reason],
    ]),
    ...DEPLOYMENT_STATES.map((state): [string, number] => [
      `pilotlight_deployment_state{state="${state}",${id}}`,
      Number(state === snapshot.state),
    ]),
  ];
}

test('every number of every deployment has its series, and what is not known has none', async () => {
  await fc.assert(
    fc.asyncProperty(anySnapshots, async (snapshots) => {
      expect(await seriesOfScrape(snapshots)).toEqual(new Map(snapshots.flatMap((one) => seriesOf(one))));
    }),
  );
});
