/** The workers: a request takes cost divided by performance, in emulator time. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import * as z from 'zod';
import { parseJsonOr } from '../../wire/coerce.ts';
import { problemsOf } from '../../wire/request.ts';
import { jsonAnswer, type Answer } from '../answers/answer.ts';
import type { ScheduledClock } from '../clock.ts';
import type { Ticket } from '../fleet/requests.ts';
import { workerUrl } from '../fleet/workers.ts';
import { routeText } from '../handlers/endpoint-groups.ts';
import { catchUp, type World } from '../service/service.ts';

export const WORKER_FOLDER = '/_worker/';

/** Clients post the answer of /route/ and the payload of the model. */
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

export async function answerAsWorker(
  { url = '', method, socket }: Pick<IncomingMessage, 'url' | 'method' | 'socket'>,
  { text, origin }: { readonly text: string; readonly origin: string },
  { world, clock }: { readonly world: World; readonly clock: ScheduledClock },
): Promise<Answer | undefined> {
  if (method !== 'POST') return refusal(404, 'workers take POST alone');
  catchUp(world, world.now());
  const [name = ''] = url.slice(WORKER_FOLDER.length).split(/[/?]/);
  const id = /^\d+$/.test(name) ? Number(name) : Number.NaN;
  const begun = beginWork(id, parseJsonOr(text), origin, world);
  if ('status' in begun) return begun;
  const { ticket, endsMs, payload } = begun;
  // On a frozen clock, a task that is due now would wait for the next move.
  const stayed = endsMs <= world.now() || (await untilDone(endsMs, socket, clock));
  catchUp(world, world.now());
  const isLost = ticket.state === 'lost';
  if (!isLost) ticket.state = 'used';
  if (!stayed) return undefined;
  if (isLost) return refusal(500, `worker ${id} has lost the request`);
  if (!world.state.workers.has(id)) return refusal(500, `worker ${id} is gone`);
  // There is no model: the payload comes back.
  return jsonAnswer(200, { worker: id, reqnum: ticket.request, seconds: ticket.takesSeconds, payload });
}

function untilDone(endsMs: number, socket: Socket, clock: ScheduledClock): Promise<boolean> {
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

function beginWork(id: number, body: unknown, origin: string, { state, fleets, signer, now }: World) {
  const worker = state.workers.get(id);
  const engine = worker && fleets.ofGroup(state, worker.groupId);
  if (!engine) return refusal(404, `no worker ${id}`);
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
  // A late request takes as long all the same.
  const beginsMs = Math.max(now(), engine.epochMs + ticket.beginsAt * 1000);
  const endsMs = Math.ceil(beginsMs + ticket.takesSeconds * 1000);
  ticket.state = 'working';
  // Keeps the ticket until the answer.
  ticket.expiresAt = Math.max(ticket.expiresAt, (endsMs - engine.epochMs) / 1000);
  return { ticket, endsMs, payload };
}

function problemWith(ticket: Ticket | undefined, worker: number): string | undefined {
  if (!ticket) return 'unknown, or its replay_timeout has passed: ask /route/ again';
  if (ticket.state === 'used' || ticket.state === 'working')
    return 'used already: a route is good for one request';
  if (ticket.state !== 'taken') return `${ticket.state}: ask /route/ again`;
  return ticket.worker === worker ? undefined : `worker ${ticket.worker} has taken it`;
}

function refusal(status: number, reason: string): Answer {
  return jsonAnswer(status, { error: reason }, reason);
}
