/** The workers' own addresses: a request's route is checked as a worker of the service does, and then used up. */
import * as z from 'zod';
import { problemsOf } from '../../wire/request.ts';
import { jsonAnswer, type Answer } from '../answers/answer.ts';
import type { Ticket } from '../fleet/requests.ts';
import { workerUrl } from '../fleet/workers.ts';
import { routeText } from '../handlers/endpoint-groups.ts';
import { settle, type World } from '../service/world.ts';

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

interface WorkerRequest {
  readonly method: string;
  readonly url: string;
  readonly text: string;
  /** Where the client sees the emulator. */
  readonly origin: string;
}

/** Answered at once, with the seconds that the engine counts for it. */
export function answerAsWorker({ method, url, text, origin }: WorkerRequest, world: World): Answer {
  if (method !== 'POST') return refusal(404, 'workers take POST alone');
  const { state, fleets, signer } = world;
  settle(world, world.now());
  const [name = ''] = url.slice(WORKER_FOLDER.length).split(/[/?]/);
  const id = /^\d+$/.test(name) ? Number(name) : Number.NaN;
  const worker = state.workers.get(id);
  const engine = worker && fleets.ofGroup(state, worker.groupId);
  if (!engine) return refusal(404, `no worker ${id}`);
  const body = jsonOf(text);
  const parsed = workerRequest.safeParse(body);
  if (!parsed.success) {
    const [first] = problemsOf(parsed.error, body);
    return refusal(400, `${first?.field || 'body'}: ${first?.message ?? 'not allowed'}`);
  }
  const { auth_data: route, payload } = parsed.data;
  if (route.url !== workerUrl(id, origin)) return refusal(401, `auth_data.url: not that of worker ${id}`);
  if (!signer.verify(routeText(route.url), route.signature))
    return refusal(401, 'auth_data.signature: not one of the service for this url');
  const ticket = engine.ticket(route.reqnum);
  const problem = problemWith(ticket, id);
  if (!ticket || problem !== undefined) return refusal(410, `auth_data.reqnum: ${problem}`);
  ticket.state = 'used';
  // There is no model that could answer: what it was asked comes back.
  return jsonAnswer(200, { worker: id, reqnum: ticket.request, seconds: ticket.takesSeconds, payload });
}

function problemWith(ticket: Ticket | undefined, worker: number): string | undefined {
  if (!ticket) return 'unknown, or its replay_timeout has passed: ask /route/ again';
  if (ticket.state === 'used') return 'used already: a route is good for one request';
  if (ticket.state !== 'taken') return `${ticket.state}: ask /route/ again`;
  return ticket.worker === worker ? undefined : `worker ${ticket.worker} has taken it`;
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
