/** The workers' own addresses: answered when the work is done on the emulator's clock, or the worker has died of it. */
import type { IncomingMessage } from 'node:http';
import { type Answer, jsonAnswer } from '../answers/answer.ts';
import type { ScheduledClock } from '../clock.ts';
import { settle, type Signer, type World } from '../service/world.ts';
import * as z from 'zod';
import { problemsOf } from '../../wire/request.ts';
import type { Fleets } from '../fleet/fleets.ts';
import type { Ticket } from '../fleet/requests.ts';
import { workerUrl } from '../fleet/workers.ts';
import type { State } from '../state/state.ts';
import { routeText } from '../handlers/endpoint-groups.ts';

interface WorkerCallParts {
  readonly world: World;
  readonly clock: Pick<ScheduledClock, 'schedule'>;
}

/** `text`: the body; `origin`: where the client sees the emulator. Resolves to undefined where the client leaves before. */
export async function answerAsWorker(
  raw: Pick<IncomingMessage, 'url' | 'method' | 'socket'>,
  { text, origin }: { readonly text: string; readonly origin: string },
  { world, clock }: WorkerCallParts,
): Promise<Answer | undefined> {
  const id = workerOf(raw.url ?? '');
  if (raw.method !== 'POST') return refusal(404, 'workers take POST alone');
  const around = () => ({ ...world, nowMs: world.now(), origin });
  settle(world, world.now());
  const begun = beginWork(id, jsonOf(text), around());
  if ('reason' in begun) return refusal(begun.status, begun.reason);
  // On a frozen clock what is due now would wait for somebody to move it.
  const stayed = begun.endsMs <= world.now() || (await untilDone(begun.endsMs, raw.socket, clock));
  settle(world, world.now());
  const why = endWork(begun, around());
  if (!stayed) return undefined;
  return why === undefined ? jsonAnswer(200, resultOf(begun)) : refusal(500, why);
}

/** False when the client has hung up before. */
function untilDone(
  endsMs: number,
  socket: IncomingMessage['socket'],
  clock: WorkerCallParts['clock'],
): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(endsMs, () => {
      socket.off('close', leave);
      resolve(true);
    });
    function leave(): void {
      cancel();
      resolve(false);
    }
    socket.once('close', leave);
  });
}

/** There is no model that could answer: what it was asked comes back. */
function resultOf({ worker, request, takesSeconds, payload }: WorkerCall) {
  return { worker, reqnum: request, seconds: takesSeconds, payload };
}

function workerOf(url: string): number {
  const [id = ''] = url.slice(WORKER_FOLDER.length).split(/[/?]/);
  return /^\d+$/.test(id) ? Number(id) : Number.NaN;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function refusal(status: number, reason: string): Answer {
  return jsonAnswer(status, { error: reason }, reason);
}

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

interface WorkerCallContext {
  readonly state: State;
  readonly fleets: Fleets;
  readonly signer: Pick<Signer, 'verify'>;
  readonly nowMs: number;
  readonly origin: string;
}

/** Work that a worker has begun. */
interface WorkerCall {
  readonly endpointId: number;
  readonly worker: number;
  readonly request: number;
  readonly endsMs: number;
  readonly takesSeconds: number;
  readonly payload: unknown;
}

interface WorkerRefusal {
  readonly status: 400 | 401 | 404 | 410;
  readonly reason: string;
}

/** Checks a request and has the worker begin with it: once, and only while its route may be used. */
function beginWork(id: number, body: unknown, context: WorkerCallContext): WorkerCall | WorkerRefusal {
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
function endWork(call: WorkerCall, { state, fleets }: WorkerCallContext): string | undefined {
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
