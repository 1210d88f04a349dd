/** Which worker takes a request, pure: a ready one, in turn. There is no load here, so a ready one always has room. */
import type { Input } from '../../contract/operations.ts';
import type { RouteAnswer } from '../../contract/operations/serverless/workers.ts';
import type { EndpointGroupRecord } from '../state/endpoint-groups.ts';
import type { State } from '../state/state.ts';
import { endpointWorkers } from './endpoints.ts';
import { workerUrl } from './worker-view.ts';
import { workerStatus } from './workers.ts';

export interface RouteContext {
  readonly state: State;
  readonly nowMs: number;
  readonly origin: string;
  /** base64 of the signature of a text. */
  readonly sign: (text: string) => string;
}

export function routeRequest(
  endpoint: EndpointGroupRecord,
  { endpoint: name, cost, request_idx: asked = 0 }: Input<'endpointGroups.route'>,
  { state, nowMs, origin, sign }: RouteContext,
): RouteAnswer {
  if (asked === 0) endpoint.requests += 1;
  const index = asked === 0 ? endpoint.requests : asked;
  const workers = endpointWorkers(state, endpoint.id);
  const statuses = workers.map((worker) => workerStatus(worker, state, nowMs));
  const ready = workers.filter((_, at) => statuses[at] === 'idle');
  const chosen = ready[index % ready.length];
  if (!chosen)
    return { request_idx: index, endpoint: name, status: `no worker is ready: ${countsOf(statuses)}` };
  const url = workerUrl(chosen.id, origin);
  // Spelled as a worker of the service spells it before it checks the signature.
  const signature = sign(`{"url": ${JSON.stringify(url)}}`);
  return { url, reqnum: index, signature, cost, endpoint: name, request_idx: index };
}

/** `2 loading, 1 stopped` */
function countsOf(statuses: readonly string[]): string {
  const counts = [...Map.groupBy(statuses, (status) => status)];
  return counts.map(([status, { length }]) => `${length} ${status}`).join(', ') || 'it has none';
}
