/** An endpoint as a test sees it: what is asked of it, what its engine does, what came of it. Pure. */
import type { PlanResult } from '../../scaling/planner/result.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import type { EndpointGroupRecord, WorkerRecord } from '../state/endpoints.ts';
import type { LoadRecord } from '../state/loads.ts';
import type { State } from '../state/state.ts';
import type { Engine } from './engine.ts';
import { workerStatus } from './workers.ts';

type LoadShown = Readonly<Record<string, number | string | boolean>>;

export interface EndpointLoadView {
  readonly id: number;
  readonly endpoint: string | null;
  /** null: nothing but what comes over /route/. */
  readonly load: LoadShown | null;
  /** When it began, Unix ms; null without one. */
  readonly sinceMs: number | null;
  /** Requests of this load that have come so far. */
  readonly requests: number;
}

/** Everything since the engine began. Times in seconds, rates in work units a second. */
export interface EndpointActivity extends EndpointLoadView {
  readonly state: string;
  /** When the engine began, Unix ms; null: it has none, for it never had a worker group. */
  readonly engineSinceMs: number | null;
  readonly estimatedLoad: number;
  readonly readyCapacity: number;
  /** By status. */
  readonly workers: Readonly<Record<string, number>>;
  /** Requests: taken by a worker, in the global queue, gone before one took them, lost with one, refused. */
  readonly taken: number;
  readonly waiting: number;
  /** Requests that came over /route/ and that a worker answers just now. */
  readonly working: number;
  readonly abandoned: number;
  readonly lost: number;
  readonly refused: number;
  /** From arrival until a worker begins with it; percentiles within half a percent. */
  readonly queueTime: PlanResult['queueTime'];
  readonly workerSeconds: { readonly hot: number; readonly cold: number; readonly starting: number };
  readonly starts: PlanResult['starts'];
  readonly deaths: number;
  readonly errors: number;
  /** A plan with these settings, from that time on, does what this engine does; null without one. */
  readonly planSettings: PlanSettings | null;
}

const NO_QUEUE_TIME: PlanResult['queueTime'] = { mean: 0, p50: 0, p95: 0, p99: 0, max: 0, relativeError: 0 };

export function loadView(endpoint: EndpointGroupRecord, engine: Engine | undefined): EndpointLoadView {
  const { id, parameters, load } = endpoint;
  return {
    id,
    endpoint: parameters.endpoint_name ?? null,
    load: load && shownLoad(load),
    sinceMs: load?.sinceMs ?? null,
    requests: engine?.loadRequests ?? 0,
  };
}

/** A trace by how long it is, not by all that is in it. */
function shownLoad({ spec }: LoadRecord): LoadShown {
  if (spec.shape !== 'trace') return spec;
  const { shape, times, loop, period_seconds } = spec;
  return { shape, requests_per_round: times.length, loop, period_seconds };
}

export function endpointActivity(
  endpoint: EndpointGroupRecord,
  workers: readonly WorkerRecord[],
  engine: Engine | undefined,
  { state, nowMs }: { readonly state: State; readonly nowMs: number },
): EndpointActivity {
  return {
    ...loadView(endpoint, engine),
    state: endpoint.state,
    workers: countBy(workers.map((worker) => workerStatus(worker, state, nowMs))),
    ...(engine ? engineActivity(engine) : NO_ENGINE),
  };
}

type EngineActivity = Omit<EndpointActivity, keyof EndpointLoadView | 'state' | 'workers'>;

const NO_ENGINE: EngineActivity = {
  engineSinceMs: null,
  estimatedLoad: 0,
  readyCapacity: 0,
  taken: 0,
  waiting: 0,
  working: 0,
  abandoned: 0,
  lost: 0,
  refused: 0,
  deaths: 0,
  errors: 0,
  queueTime: NO_QUEUE_TIME,
  workerSeconds: { hot: 0, cold: 0, starting: 0 },
  starts: { fromCold: 0, fromNothing: 0 },
  planSettings: null,
};

function engineActivity(engine: Engine): EngineActivity {
  const { requests, share, workerHours, queueTime, starts } = engine.result();
  const { hot, cold, starting } = workerHours;
  const abandoned = Math.round(share.abandoned * requests);
  return {
    engineSinceMs: engine.epochMs,
    estimatedLoad: engine.estimate.load,
    readyCapacity: engine.estimate.capacity,
    taken: requests - abandoned,
    waiting: engine.waiting,
    working: engine.working,
    abandoned,
    ...engine.counts,
    queueTime,
    workerSeconds: { hot: hot * 3600, cold: cold * 3600, starting: starting * 3600 },
    starts,
    planSettings: engine.settings,
  };
}

function countBy(statuses: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(statuses, (one) => one)].map(([one, all]) => [one, all.length]));
}
