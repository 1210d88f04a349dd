import type { Worker } from '../../contract/operations/serverless/workers.ts';
import type { Engine } from '../fleet/engine.ts';
import { NO_LOAD, workerView } from '../fleet/worker-view.ts';
import type { WorkerRecord } from '../state/endpoints/workers.ts';
import type { HandlerContext } from './define.ts';

/** With what their engine knows of them. */
export function shownWorkers(
  workers: readonly WorkerRecord[],
  engine: Engine | undefined,
  { state, nowMs, origin }: HandlerContext,
): Worker[] {
  return workers.map((worker) =>
    workerView(worker, state, nowMs, { origin, load: engine?.loadOf(worker) ?? NO_LOAD }),
  );
}
