/** A fleet as it was recorded: what an endpoint under a morning's load looks like, as plain data. */
import type { Aggregate, EndpointView, Fleet, FleetView, HistoryRow } from '../../src/fleet/view.ts';
import type { WorkerLife } from '../../src/fleet/workers/lives.ts';
import type { FleetSample, Measure } from '../../src/fleet/workers/measure.ts';
import type { EndpointSpend } from '../../src/spend/hours.ts';

const MEASURED: Readonly<Record<Measure, number | null>> = {
  load: 42,
  load_average: 40,
  load_in_flight: null,
  capacity_hot: 60,
  capacity_cold: 100,
  requests_working: 12,
  spend_per_hour: 3.2,
  spend_told_per_hour: null,
  spend_idle_per_hour: 0.8,
  spend_starting_per_hour: 0.4,
  spend_stopped_per_hour: 0.1,
};

export function sampleAt(
  atMs: number,
  measures: Partial<FleetSample['measures']> = {},
  workers: FleetSample['workers'] = { idle: 6, model_loading: 2, stopped: 10 },
): FleetSample {
  return { atMs, measures: { ...MEASURED, ...measures }, workers };
}

/** A worker that is idle, but for what is named. */
export function workerLife(over: Partial<WorkerLife> = {}): WorkerLife {
  return {
    id: 1,
    endpoint: 'chat',
    firstSeenMs: 5,
    changes: [['idle', 5]],
    start: undefined,
    perf: 7,
    missed: 0,
    missingSinceMs: undefined,
    ...over,
  };
}

/** An endpoint that fares well, seen just now, but for what is named. */
export function endpointView(over: Partial<EndpointView> = {}, nowMs = Date.now()): EndpointView {
  return {
    endpoint: 'chat',
    id: 31,
    state: 'active',
    sample: sampleAt(nowMs),
    sampledAtMs: nowMs,
    lastError: undefined,
    parameters: { target_util: 0.9, cold_mult: 2.5, cold_workers: 5, max_workers: 20, min_load: 0 },
    drift: [],
    findings: [],
    stuckWorkers: 0,
    failingWorkers: 0,
    load: { meaning: 'rate', because: 'shown by 6 of its workers' },
    measured: { performances: [], startSeconds: { new: [], cold: [] } },
    troubles: {},
    ...over,
  };
}

export function fleetView(endpoints: readonly EndpointView[], over: Partial<FleetView> = {}): FleetView {
  return {
    endpoints,
    history: 'disk',
    historyTrouble: undefined,
    spend: { endpoints: new Map(), month: undefined, orphans: undefined, unanswered: [] },
    samples: true,
    isElsewhere: false,
    ...over,
  };
}

/** All endpoints, without a budget. */
export const WATCH_ALL = {
  endpoints: [{ by: 'all' as const }],
  fleetInterval: 15_000,
  budgetPerHour: undefined,
  budgetPerMonth: undefined,
};

/** Of an endpoint whose workers report load in flight, or do not show what they report. */
export const IN_FLIGHT = { meaning: 'in flight', because: 'shown by 6 of its workers' } as const;
export const UNCLEAR = {
  meaning: 'unknown',
  because: 'its workers differ: 1 of them in flight, 1 a rate',
} as const;

export const UNSEEN = {
  state: undefined,
  sample: undefined,
  sampledAtMs: undefined,
  load: { meaning: 'unknown', because: 'no worker has had load yet' },
  parameters: {},
} as const satisfies Partial<EndpointView>;

function aggregate(value: number | null, samples: number): Aggregate {
  return value === null
    ? { count: 0, sum: 0, peak: 0 }
    : { count: samples, sum: value * samples, peak: value };
}

export function minuteRow(
  fromMs: number,
  measures: Partial<FleetSample['measures']> = {},
  workers: FleetSample['workers'] = { idle: 6, stopped: 10 },
): HistoryRow {
  const all = { ...MEASURED, ...measures };
  return {
    fromMs,
    lengthMs: 60_000,
    samples: 4,
    measures: Object.fromEntries(
      Object.entries(all).map(([name, value]) => [name, aggregate(value, 4)]),
    ) as HistoryRow['measures'],
    workers: Object.fromEntries(
      Object.entries(workers).map(([status, count]) => [status, aggregate(count, 4)]),
    ),
  };
}

/** A quiet night, a burst with cold starts, and a quarter of an hour without samples. */
export function morning(fromMs: number, minutes: number): HistoryRow[] {
  return Array.from({ length: minutes }, (_, minute) => {
    const wave = Math.max(0, Math.sin((minute / minutes) * Math.PI * 3)) ** 2;
    const noise = ((minute * 7919) % 13) / 13;
    const load = 5 + 90 * wave + 12 * noise;
    const ready = Math.max(
      1,
      Math.round((5 + 90 * Math.max(0, Math.sin(((minute - 8) / minutes) * Math.PI * 3)) ** 2) / 8),
    );
    const starting = Math.max(0, Math.round(load / 9) - ready);
    return minuteRow(
      fromMs + minute * 60_000,
      {
        load,
        load_average: load,
        capacity_hot: ready * 10,
        capacity_cold: Math.max(0, 12 - ready - starting) * 10,
        requests_working: Math.round(load / 4),
        spend_per_hour: (ready + starting) * 0.42 + 0.3,
      },
      {
        idle: ready,
        loading: Math.floor(starting / 2),
        model_loading: Math.ceil(starting / 2),
        stopped: Math.max(0, 12 - ready - starting),
        ...(minute % 97 === 3 ? { error: 1 } : {}),
      },
    );
  }).filter((_, minute) => minute < minutes * 0.55 || minute > minutes * 0.55 + 15);
}

export function recordedFleet(
  view: () => FleetView,
  rows: Readonly<Record<string, readonly HistoryRow[]>> = {},
  spends: readonly EndpointSpend[] = [],
): Fleet {
  return {
    view,
    spends: () => Promise.resolve(spends),
    history: ({ endpoint, fromMs, toMs, maxRows }) =>
      Promise.resolve(
        (rows[endpoint] ?? []).filter(({ fromMs: at }) => at >= fromMs && at < toMs).slice(-maxRows),
      ),
  };
}

/** Of an endpoint that is called chat, with all that can be known. */
export const SPENT: FleetView['spend'] = {
  endpoints: new Map([
    [
      'chat',
      {
        today: { dollars: 4.2, source: 'told' },
        usualToday: 3.1,
        month: { dollars: 61, source: 'estimated' },
      },
    ],
  ]),
  month: {
    soFar: { dollars: 61, source: 'estimated' },
    unknownDays: 1,
    forecast: { soFar: 61, expected: 2_112.5, range: undefined, days: 9 },
  },
  orphans: { instances: 1, spendPerHour: 0.4 },
  unanswered: [{ permission: 'billing_read', isMissing: true, error: 'status 403: not permitted' }],
};
