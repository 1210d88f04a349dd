/** An endpoint as a test sees it: what is asked of it, what its engine does, what came of it. Pure. */
import type { PlanResult } from '../../scaling/planner/result.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import type { EndpointGroupRecord, WorkerRecord } from '../state/endpoints.ts';
import type { LoadRecord } from '../state/loads.ts';
import type { State } from '../state/state.ts';
import type { Engine } from './engine.ts';
import { workerStatus } from './workers.ts';

export interface EndpointLoadView {
  readonly id: number;
  readonly endpoint: string | null;
  /** null: nothing but what comes over /route/. */
  readonly load: LoadRecord['spec'] | null;
  /** When it began, Unix ms; null without one. */
  readonly sinceMs: number | null;
  /** Requests of this load that have come so far. */
  readonly requests: number;
}

/** Everything since the engine began. Times in seconds, rates in work units a second. */
export interface EndpointActivity extends EndpointLoadView {
  readonly state: string;
  /** When the engine began, Unix ms. */
  readonly engineSinceMs: number;
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
  /** A plan with these settings, from that time on, does what this engine does. */
  readonly planSettings: PlanSettings;
}

export function loadView(endpoint: EndpointGroupRecord, engine: Engine): EndpointLoadView {
  const { id, parameters, load } = endpoint;
  return {
    id,
    endpoint: parameters.endpoint_name ?? null,
    load: load?.spec ?? null,
    sinceMs: load?.sinceMs ?? null,
    requests: engine.loadRequests,
  };
}

export function endpointActivity(
  endpoint: EndpointGroupRecord,
  workers: readonly WorkerRecord[],
  engine: Engine,
  { state, nowMs }: { readonly state: State; readonly nowMs: number },
): EndpointActivity {
  const { requests, share, workerHours, queueTime, starts } = engine.result();
  const { hot, cold, starting } = workerHours;
  const abandoned = Math.round(share.abandoned * requests);
  return {
    ...loadView(endpoint, engine),
    state: endpoint.state,
    workers: countBy(workers.map((worker) => workerStatus(worker, state, nowMs))),
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
