/**
 * Statuses flicker: a worker that serves may be shown as offline or loading while its report is late. So a status that a ready
 * worker loses, or that nobody knows, counts after two looks, and not at all while the worker reports that it served. Pure.
 */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { phaseOf, statusOf } from './status.ts';

/**
 * The workers with the statuses that count, and those whose status of this look is in doubt.
 *
 * @param doubtedBefore Those of the look before
 * @param counted The status of a worker that counts so far; undefined for a worker that is new
 * @param serves Whether it has reported since the last look that it served requests
 */
export function settle(
  workers: readonly Worker[],
  doubtedBefore: ReadonlySet<number>,
  counted: (id: number) => string | undefined,
  serves: (worker: Worker) => boolean,
) {
  const doubted = new Set<number>();
  const settled = workers.map((worker): Worker => {
    const [status, last] = [statusOf(worker), counted(worker.id)];
    const phase = phaseOf(status);
    const wasReady = last !== undefined && phaseOf(last) === 'ready';
    // The engine decides a stop itself, whatever workers report: that counts at once, and so does its price.
    const isBadNews = phase === undefined || (wasReady && phase !== 'ready' && phase !== 'cold');
    if (status === last || !isBadNews) return worker;
    const mayBeLate = phase === undefined || phase === 'starting';
    if (mayBeLate && serves(worker)) return { ...worker, status: wasReady ? last : 'idle' };
    doubted.add(worker.id);
    return last === undefined || doubtedBefore.has(worker.id) ? worker : { ...worker, status: last };
  });
  return { workers: settled, doubted };
}
