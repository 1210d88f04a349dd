/** An endpoint as a test sees it: what is asked of it, what its engine does, what came of it. Pure. */
import type { EndpointGroupRecord, WorkerRecord } from '../state/endpoints.ts';
import type { State } from '../state/state.ts';
import type { Engine } from './engine.ts';
import { workerStatus } from './workers.ts';

/** What is asked of an endpoint now. */
export type EndpointLoadView = Readonly<ReturnType<typeof loadView>>;

export function loadView({ id, parameters, load }: EndpointGroupRecord, engine: Engine) {
  return {
    id,
    endpoint: parameters.endpoint_name ?? null,
    /** null: nothing but what comes over /route/. */
    load: load?.spec ?? null,
    /** When it began, Unix ms; null without one. */
    sinceMs: load?.sinceMs ?? null,
    /** Requests of this load that have come so far. */
    requests: engine.loadRequests,
  };
}

/** What the engine of an endpoint did since it began. Times in seconds, rates in work units a second. */
export type EndpointActivity = Readonly<ReturnType<typeof endpointActivity>>;

export function endpointActivity(
  endpoint: EndpointGroupRecord,
  workers: readonly WorkerRecord[],
  engine: Engine,
  { state, nowMs }: { readonly state: State; readonly nowMs: number },
) {
  const { requests, share, workerHours, queueTime, starts } = engine.result();
  const { hot, cold, starting } = workerHours;
  const abandoned = Math.round(share.abandoned * requests);
  return {
    ...loadView(endpoint, engine),
    state: endpoint.state,
    /** By status. */
    workers: countBy(workers.map((worker) => workerStatus(worker, state, nowMs))),
    /** When the engine began, Unix ms. */
    engineSinceMs: engine.epochMs,
    estimatedLoad: engine.estimate.load,
    readyCapacity: engine.estimate.capacity,
    /** Requests that a worker took. */
    taken: requests - abandoned,
    /** Those in the global queue. */
    waiting: engine.waiting,
    /** Those that came over /route/ and that a worker answers just now. */
    working: engine.working,
    /** Those that were gone before a worker took them. */
    abandoned,
    ...engine.counts,
    /** From arrival until a worker begins with it; percentiles within half a percent. */
    queueTime,
    workerSeconds: { hot: hot * 3600, cold: cold * 3600, starting: starting * 3600 },
    starts,
    /** A plan with these settings, from that time on, does what this engine does. */
    planSettings: engine.settings,
  };
}

function countBy(statuses: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(statuses, (one) => one)].map(([one, all]) => [one, all.length]));
}
