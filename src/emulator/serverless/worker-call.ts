/**
 * A request at the address of a worker: its route is checked as a worker of the service does, and it takes as long as
 * its cost over what the worker can do.
 */
import * as z from 'zod';
import { problemsOf } from '../../wire/request.ts';
import type { Fleets } from '../fleet/fleets.ts';
import type { Ticket } from '../fleet/tickets.ts';
import { workerUrl } from '../fleet/worker-view.ts';
import type { State } from '../state/state.ts';
import { routeText } from './route.ts';
import type { Signer } from './signature.ts';

/** Path at which workers are, with the id behind it. */
export const WORKER_FOLDER = '/_worker/';

/** As clients post it: the answer of the route, a name for the session, and what the model is asked. */
const workerRequest = z.looseObject({
  auth_data: z.looseObject({
    url: z.string(),
    signature: z.string(),
    cost: z.coerce.number().nonnegative(),
    endpoint: z.string(),
    reqnum: z.coerce.number().int(),
  }),
  payload: z.unknown().optional(),
});

export interface WorkerCallContext {
  readonly state: State;
  readonly fleets: Fleets;
  readonly signer: Pick<Signer, 'verify'>;
  readonly nowMs: number;
  readonly origin: string;
}

/** Work that a worker has begun. */
export interface WorkerCall {
  readonly endpointId: number;
  readonly worker: number;
  readonly request: number;
  readonly endsMs: number;
  readonly takesSeconds: number;
  readonly payload: unknown;
}

export interface WorkerRefusal {
  readonly status: 400 | 401 | 404 | 410;
  readonly reason: string;
}

/** Checks a request and has the worker begin with it: once, and only while its route may be used. */
export function beginWork(id: number, body: unknown, context: WorkerCallContext): WorkerCall | WorkerRefusal {
  const { state, fleets, signer, nowMs, origin } = context;
  const worker = state.workers.get(id);
  const engine = worker && fleets.ofGroup(state, worker.groupId);
  if (!engine) return { status: 404, reason: `no worker ${id}` };
  const parsed = workerRequest.safeParse(body);
  if (!parsed.success) {
    const [first] = problemsOf(parsed.error, body);
    return { status: 400, reason: `${first?.field || 'body'}: ${first?.message ?? 'not allowed'}` };
  }
  const { auth_data: route, payload } = parsed.data;
  if (route.url !== workerUrl(id, origin))
    return { status: 401, reason: `auth_data.url: not that of worker ${id}` };
  if (!signer.verify(routeText(route.url), route.signature)) {
    return { status: 401, reason: 'auth_data.signature: not one of the service for this url' };
  }
  const ticket = engine.ticket(route.reqnum);
  const problem = problemWith(ticket, id);
  if (!ticket || problem !== undefined) return { status: 410, reason: `auth_data.reqnum: ${problem}` };
  const { takesSeconds } = ticket;
  // It may come later than the worker expected it, and takes as long all the same.
  const beginsMs = Math.max(nowMs, engine.epochMs + ticket.beginsAt * 1000);
  const endsMs = Math.ceil(beginsMs + takesSeconds * 1000);
  ticket.state = 'working';
  // It is not forgotten before it is answered.
  ticket.expiresAt = Math.max(ticket.expiresAt, (endsMs - engine.epochMs) / 1000);
  const { endpointId } = engine;
  return { endpointId, worker: id, request: ticket.request, endsMs, takesSeconds, payload };
}

/** Its time has come, or its client has left. Undefined where the worker has lived to see it, else what became of it. */
export function endWork(call: WorkerCall, { state, fleets }: WorkerCallContext): string | undefined {
  const worker = state.workers.get(call.worker);
  const ticket = fleets.of(call.endpointId)?.ticket(call.request);
  if (ticket?.state === 'working') ticket.state = 'used';
  if (ticket?.state === 'lost') return `worker ${call.worker} has lost the request`;
  return worker ? undefined : `worker ${call.worker} is gone`;
}

function problemWith(ticket: Ticket | undefined, worker: number): string | undefined {
  if (!ticket) return 'unknown, or its replay_timeout has passed: ask /route/ again';
  if (ticket.state === 'used' || ticket.state === 'working')
    return 'used already: a route is good for one request';
  if (ticket.state !== 'taken') return `${ticket.state}: ask /route/ again`;
  return ticket.worker === worker ? undefined : `worker ${ticket.worker} has taken it`;
}
