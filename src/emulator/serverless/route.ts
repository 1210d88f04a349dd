/** Which worker takes a request: the engine of the endpoint says it, and the service signs it. */
import type { Input } from '../../contract/operations.ts';
import type { RouteAnswer } from '../../contract/operations/serverless/workers.ts';
import type { Engine } from '../fleet/engine.ts';
import type { Ticket } from '../fleet/tickets.ts';
import { workerUrl } from '../fleet/worker-view.ts';
import { workerStatus } from '../fleet/workers.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import type { State } from '../state/state.ts';
import { endpointWorkers } from './endpoints.ts';

/** How long a client is waited for that does not say it. */
const REPLAY_TIMEOUT_SECONDS = 60;

export interface RouteContext {
  readonly state: State;
  readonly nowMs: number;
  readonly origin: string;
  /** base64 of the signature of a text. */
  readonly sign: (text: string) => string;
  /** undefined: the endpoint has no worker group. */
  readonly engine: Engine | undefined;
}

/**
 * One that asks for the first time arrives at the model and waits there behind those before it; one that asks again
 * goes on waiting, and gets the worker that has taken it. Who does not ask again within its replay_timeout has gone.
 */
export function routeRequest(
  endpoint: EndpointGroupRecord,
  input: Input<'endpointGroups.route'>,
  context: RouteContext,
): RouteAnswer {
  const { endpoint: name, cost, request_idx: asked = 0 } = input;
  const { engine, origin, sign } = context;
  const patience = input.replay_timeout ?? REPLAY_TIMEOUT_SECONDS;
  const known = asked === 0 ? undefined : engine?.again(asked, patience);
  const ticket = known && isOpen(known) ? known : engine?.request(cost, patience);
  if (ticket?.state !== 'taken' || ticket.worker === null) {
    const index = ticket?.request ?? asked;
    return { request_idx: index, endpoint: name, status: whyNot(ticket, endpoint, context) };
  }
  const url = workerUrl(ticket.worker, origin);
  // Spelled as a worker of the service spells it before it checks the signature.
  const signature = sign(routeText(url));
  const { request } = ticket;
  return { url, reqnum: request, signature, cost: ticket.cost, endpoint: name, request_idx: request };
}

/** What the signature of a route is over. */
export function routeText(url: string): string {
  return `{"url": ${JSON.stringify(url)}}`;
}

/** One that was lost or used up is asked for anew. */
function isOpen({ state }: Ticket): boolean {
  return state === 'waiting' || state === 'taken';
}

function whyNot(
  ticket: Ticket | undefined,
  endpoint: EndpointGroupRecord,
  { state, nowMs, engine }: RouteContext,
): string {
  if (ticket?.state === 'refused') return 'too many requests wait';
  const workers = endpointWorkers(state, endpoint.id);
  const statuses = workers.map((worker) => workerStatus(worker, state, nowMs));
  const counts = countsOf(statuses);
  if (!statuses.includes('idle')) return `no worker is ready: ${counts}`;
  return `all workers are busy, and ${engine?.waiting ?? 0} requests wait: ${counts}`;
}

/** `2 loading, 1 stopped` */
function countsOf(statuses: readonly string[]): string {
  const counts = [...Map.groupBy(statuses, (status) => status)];
  return counts.map(([status, { length }]) => `${length} ${status}`).join(', ') || 'it has none';
}
