/** The workers' own addresses: answered when the work is done on the emulator's clock, or the worker has died of it. */
import type { IncomingMessage } from 'node:http';
import { jsonAnswer, type Answer } from '../answers/answer.ts';
import type { ScheduledClock } from '../clock.ts';
import { settle } from '../service/settle.ts';
import type { World } from '../service/service.ts';
import { beginWork, endWork, WORKER_FOLDER, type WorkerCall } from '../serverless/worker-call.ts';

export interface WorkerCallParts {
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
