/**
 * Statuses flicker: a worker that serves may be shown as offline or loading while its report is late. So a status that a ready
 * worker loses, or that nobody knows, counts after two looks, and not at all while the worker reports that it served. Pure.
 */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { phaseOf, statusOf } from './status.ts';

export interface Settled {
  /** With the statuses that count. */
  readonly workers: readonly Worker[];
  /** Those whose last look was bad news, whether or not it counts. */
  readonly doubted: ReadonlySet<number>;
}

/**
 * @param counted The status of a worker that counts so far; undefined for a worker that is new
 * @param serves Whether it has reported since the last look that it served requests
 */
export function settle(
  workers: readonly Worker[],
  before: ReadonlySet<number>,
  counted: (id: number) => string | undefined,
  serves: (worker: Worker) => boolean,
): Settled {
  const doubted = new Set<number>();
  const settled = workers.map((worker) => {
    const [status, last] = [statusOf(worker), counted(worker.id)];
    if (!isBadNews(status, last)) return worker;
    const wasReady = last !== undefined && phaseOf(last) === 'ready';
    if (isLateReport(status) && serves(worker)) return { ...worker, status: wasReady ? last : 'idle' };
    doubted.add(worker.id);
    return last === undefined || before.has(worker.id) ? worker : { ...worker, status: last };
  });
  return { workers: settled, doubted };
}

function isBadNews(status: string, last: string | undefined): boolean {
  const phase = phaseOf(status);
  const wasReady = last !== undefined && phaseOf(last) === 'ready';
  return status !== last && (phase === undefined || (wasReady && phase !== 'ready'));
}

/** What the engine decides itself is no matter of reports. */
function isLateReport(status: string): boolean {
  const phase = phaseOf(status);
  return phase === undefined || phase === 'starting';
}
