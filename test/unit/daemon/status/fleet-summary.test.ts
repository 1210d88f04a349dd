import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WORKER_STATUSES } from '../../../../src/contract/operations/serverless/workers.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import { summaryOf } from '../../../../src/daemon/status/page/status-summary.js';
import type { EndpointView, FleetView } from '../../../../src/fleet/view.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { endpointView, fleetView, sampleAt, UNSEEN, WATCH_ALL } from '../../../support/recorded-fleet.ts';

const page = new URL('../../../../src/daemon/status/page/', import.meta.url);
const NOW = 1_000_000;

function judge(over: Partial<EndpointView>, view: Partial<FleetView> = {}, budgetPerHour?: number) {
  const endpoint = endpointView({ sample: sampleAt(NOW * 1000), sampledAtMs: NOW * 1000, ...over });
  const fleet = fleetStatus(fleetView([endpoint], view), { ...WATCH_ALL, budgetPerHour });
  return summaryOf({ ...EMPTY_STATUS, now: NOW, fleet }, NOW);
}

function loaded(measures: Parameters<typeof sampleAt>[1], workers?: Parameters<typeof sampleAt>[2]) {
  return { sample: sampleAt(NOW * 1000, measures, workers) };
}

/** All of it in flight. */
const inFlight = (load_in_flight: number, more: Parameters<typeof sampleAt>[1] = {}) => ({
  load: null,
  load_average: null,
  load_in_flight,
  ...more,
});

test.each([
  ['fares well', {}],
  ['has neither load nor workers', loaded({ load: 0, load_average: 0, capacity_hot: 0 }, {})],
  ['was never seen', UNSEEN],
  ['has as much in flight as may wait', loaded(inFlight(1_800))],
  ['does not say its load', loaded({ load: null, load_average: null, capacity_hot: 0 })],
  ['is asked for more in one sample, and not on average', loaded({ load: 80, load_average: 50 })],
  ['was seen four intervals ago', { sampledAtMs: (NOW - 60) * 1000 }],
])('an endpoint that %s is no trouble', (_, over) => {
  expect(judge(over)).toMatchObject({ tone: 'good', troubles: [] });
});

/** With load, and no capacity. */
const asked = (workers: Parameters<typeof sampleAt>[2]) =>
  loaded({ load_average: 5, capacity_hot: 0 }, workers);
const critical = { severity: 'critical' as const, sinceMs: 0, says: 'has load, and recruits none' };

test.each<[words: string, tone: string, over: Partial<EndpointView>]>([
  ['Endpoint chat has load and no ready worker', 'bad', asked({ loading: 2 })],
  [
    'Endpoint chat has load, and its ready worker can do nothing (a performance of 0)',
    'bad',
    asked({ idle: 1 }),
  ],
  [
    'Endpoint chat has load, and its 3 ready workers can do nothing (a performance of 0)',
    'bad',
    asked({ idle: 1, update_ready: 2 }),
  ],
  [
    'Endpoint chat has load and no ready worker, and has its max_workers (20)',
    'bad',
    asked({ loading: 20, destroying: 3 }),
  ],
  [
    'Endpoint chat is asked for more than its ready workers can do: 80 of 60',
    'warn',
    loaded({ load_average: 80 }),
  ],
  [
    'Endpoint chat has 45 s of work in flight, and 30 s may wait',
    'warn',
    { ...loaded(inFlight(2_700)), parameters: { max_queue_time: 30, max_workers: 40 } },
  ],
  [
    'Endpoint chat has load and no ready worker',
    'bad',
    loaded(inFlight(5, { capacity_hot: 0 }), { loading: 2 }),
  ],
  ['Endpoint chat was last seen 61 s ago', 'warn', { sampledAtMs: (NOW - 61) * 1000 }],
  ['Endpoint chat cannot be seen: no answer in time', 'warn', { lastError: 'no answer in time' }],
  // A trouble that has a name, and one that it has not.
  [
    'Endpoint chat has load, and recruits none',
    'bad',
    { troubles: { not_recruiting: critical, churn: null } },
  ],
  ['Endpoint chat: 1 worker errs again and again', 'warn', { failingWorkers: 1 }],
  ['Endpoint chat: 2 workers have been loading far longer than the others', 'warn', { stuckWorkers: 2 }],
  [
    'Endpoint chat is not as configured: max_workers is not set, not 5; target_util is 0.8, not 0.9',
    'warn',
    {
      drift: [
        { parameter: 'max_workers', actual: null, wanted: 5 },
        { parameter: 'target_util', actual: 0.8, wanted: 0.9 },
      ],
    },
  ],
])('%s', (words, tone, over) => {
  expect(judge(over)).toMatchObject({ tone, troubles: [words] });
});

test('a price above the budget is said of all endpoints together', () => {
  expect(judge({}, {}, 3.2).troubles).toEqual([]);
  expect(judge({}, {}, 3).troubles).toEqual([
    'The endpoints cost 3.20 an hour, above PILOTLIGHT_BUDGET_PER_HOUR (3)',
  ]);
});

test('a history that takes nothing is said', () => {
  expect(judge({}, { historyTrouble: 'no space left' }).troubles).toEqual([
    'What the endpoints do is not being recorded: no space left',
  ]);
});

test('the page asks only for relative addresses, so that it may lie under any path', () => {
  const scripts = readdirSync(page).filter((name) => /\.(?:js|html|css)$/.test(name));
  for (const name of scripts)
    expect([name, /["'`(]\/[a-z][^"'`]*/i.exec(readFileSync(new URL(name, page), 'utf8'))]).toEqual([
      name,
      null,
    ]);
});

test('the plot of workers has a place and a colour for each status', () => {
  const script = readFileSync(new URL('endpoints.js', page), 'utf8');
  const placed = /const STATUSES =\s+`([^`]+)`/.exec(script)?.[1]?.split(/\s+/);
  const styles = readFileSync(new URL('status.css', page), 'utf8');
  for (const status of [...WORKER_STATUSES, 'unknown']) {
    expect(placed).toContain(status);
    expect(styles).toContain(`--worker-${status}: `);
  }
});
