/** The log of a worker group as the life of its workers makes it: starts, work, errors. Pure. */
import { createRandom, mixSeeds } from '../../random.ts';
import type { WorkerGroupRecord } from '../../state/endpoints/worker-groups.ts';
import { appendLines, clockText, setGrowth } from '../../worker-log/group-log.ts';
import { TIME_MARK } from '../../worker-log/inference-log.ts';
import { startup, traceback } from '../../worker-log/scenes.ts';

/** Of the lines that a server writes at work, so many a hundred it writes when it waits for some. */
const IDLE_SHARE = 0.1;

/** A worker is ready: what it wrote from `fromMs` until then. */
export function writeStart(group: WorkerGroupRecord, workerId: number, fromMs: number, atMs: number): void {
  const lines = startup(createRandom(mixSeeds(workerId, fromMs)));
  const timed = lines.map((line, index) =>
    line.replaceAll(TIME_MARK, clockText(fromMs + ((atMs - fromMs) * (index + 1)) / lines.length)),
  );
  appendLines(group.log, timed, atMs);
}

export function writeError(group: WorkerGroupRecord, workerId: number, atMs: number): void {
  const lines = traceback(createRandom(mixSeeds(workerId, atMs)));
  appendLines(
    group.log,
    lines.map((line) => line.replaceAll(TIME_MARK, clockText(atMs))),
    atMs,
  );
}

/** From now on its log is that of so many workers that serve, with work or without. */
export function followWork(group: WorkerGroupRecord, serving: number, busy: boolean, atMs: number): void {
  const share = busy ? 1 : IDLE_SHARE;
  const linesPerSecond = group.linesPerSecond * serving * share;
  setGrowth(group.log, { linesPerSecond, scenes: busy ? 'busy' : 'idle' }, atMs);
}
