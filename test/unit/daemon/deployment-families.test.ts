import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Exposition } from '../../../src/daemon/metrics/exposition.ts';
import { deploymentFamilies } from '../../../src/daemon/metrics/families/deployments.ts';
import type { Scrape } from '../../../src/daemon/metrics/scrape.ts';
import { expose } from '../../../src/daemon/metrics/series.ts';
import { figuresOf, joinFigures, selectFigures } from '../../../src/heartbeat/view/figures.ts';
import { HEARTBEAT_STATES } from '../../../src/heartbeat/engine/state.ts';
import { FAILURE_LABELS, type FailureLabel } from '../../../src/heartbeat/engine/outcome.ts';
import type { DeploymentView } from '../../../src/heartbeat/view/view.ts';

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
const anyView: fc.Arbitrary<DeploymentView> = fc.record(
  {
    deploymentId: fc.nat(),
    state: fc.constantFrom(...HEARTBEAT_STATES),
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
  {
    requiredKeys: ['deploymentId', 'state', 'intervalMs', 'lapses', 'attempts', 'failures', 'timeline'],
  },
);
const anyViews = fc.uniqueArray(anyView, { maxLength: 5, selector: ({ deploymentId }) => deploymentId });

/** The series in the text, by what comes before the value. */
function seriesIn(deployments: Scrape['deployments']): Map<string, number> {
  const text = new Exposition();
  expose(deploymentFamilies, { deployments } as Scrape, text);
  const lines = Buffer.from(text.bytes()).toString().split('\n');
  expect(lines.pop()).toBe('');
  const samples = lines.filter((line) => !line.startsWith('#')).map((line) => line.split(' '));
  const series = new Map(samples.map(([name = '', value]) => [name, Number(value)]));
  expect(series.size).toBe(samples.length);
  return series;
}

/** What the metrics are to say of a deployment. */
function seriesOf(view: DeploymentView): [string, number][] {
  const id = `deployment_id="${view.deploymentId}"`;
  const figures: [string, number | undefined][] = [
    ['ttl_seconds', view.ttlMs === undefined ? undefined : view.ttlMs / 1000],
    ['heartbeat_interval_seconds', view.intervalMs / 1000],
    ['heartbeats_total', view.attempts],
    ['last_heartbeat_success_timestamp_seconds', (view.lastSuccessAt ?? 0) / 1000],
    ['next_heartbeat_timestamp_seconds', view.nextBeatAt === undefined ? undefined : view.nextBeatAt / 1000],
    ['expiry_timestamp_seconds', view.expiresAt === undefined ? undefined : view.expiresAt / 1000],
    ['min_margin_ratio', view.minMarginRatio],
    ['lapses_total', view.lapses],
  ];
  return [
    ...figures.flatMap(([name, value]): [string, number][] =>
      value === undefined ? [] : [[`pilotlight_deployment_${name}{${id}}`, value]],
    ),
    ...FAILURE_LABELS.map((reason): [string, number] => [
      `pilotlight_deployment_heartbeat_failures_total{${id},reason="${reason}"}`,
      view.failures[reason],
    ]),
    ...HEARTBEAT_STATES.map((state): [string, number] => [
      `pilotlight_deployment_state{${id},state="${state}"}`,
      Number(state === view.state),
    ]),
  ];
}

test('every figure of every deployment has its series, and what is not known has none', () => {
  fc.assert(
    fc.property(anyViews, (seen) => {
      expect(seriesIn(figuresOf(seen))).toEqual(new Map(seen.flatMap((one) => seriesOf(one))));
    }),
  );
});

test('rows in parts are joined, and those that are missing are made up from the view', () => {
  fc.assert(
    fc.property(anyViews, anyViews, fc.nat(5), (told, untold, cut) => {
      const ids = new Set(told.map(({ deploymentId }) => deploymentId));
      const missing = untold.filter(({ deploymentId }) => !ids.has(deploymentId));
      const figures = joinFigures([figuresOf(told.slice(0, cut)), figuresOf(told.slice(cut))]);
      const wanted = [...missing, ...told.toReversed()];
      const selected = selectFigures(
        figures,
        wanted.map(({ deploymentId: id }) => ({ id })),
        ({ id }) => missing.find(({ deploymentId }) => deploymentId === id)!,
      );
      expect(selected).toEqual(figuresOf(wanted));
    }),
  );
});
