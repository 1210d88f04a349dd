/** What a test may see and change of worker groups: `emulator.workergroups.append(7, ['a line'])`. */
import type { z } from 'zod';
import { workerGroupOf } from '../seed/build.ts';
import { workerGroupEntry } from '../seed/schema.ts';
import { deleteWorkerGroup } from '../serverless/worker-groups.ts';
import { newWorker } from '../fleet/workers.ts';
import type { World } from '../service/service.ts';
import {
  appendLines,
  clearLog,
  firstRetained,
  growthRate,
  lineCount,
  linesBetween,
  setGrowthRate,
  writeText,
} from '../worker-log/group-log.ts';
import { existing, firstUser, settledState } from './existing.ts';

export interface WorkerGroupView {
  readonly id: number;
  /** Finished lines written so far, also those that the service no longer has. */
  readonly lineCount: number;
  /** Index of the first line that the service still has. */
  readonly firstRetained: number;
  readonly linesPerSecond: number;
}

export interface WorkerGroups {
  get(id: number): WorkerGroupView;
  list(): WorkerGroupView[];
  add(group: z.input<typeof workerGroupEntry>): void;
  remove(id: number): void;
  /** Writes whole lines now. */
  append(id: number, lines: readonly string[]): void;
  /** Writes text as a process does; what follows the last line break stays unfinished. Needs a rate of 0. */
  write(id: number, text: string): void;
  /** Lines per second from now on; 0 stops the growth. */
  setRate(id: number, linesPerSecond: number): void;
  /** The true log: lines `from` to `to` (excluded) by index, as far as they are retained. */
  lines(id: number, from?: number, to?: number): string[];
  /** Throws away what was written so far, as when a worker is replaced. */
  clear(id: number): void;
}

export function inspectWorkerGroups(world: World): WorkerGroups {
  const groupOf = (id: number) => existing(settledState(world).workerGroups, id, 'worker group');
  const logOfGroup = (id: number) => groupOf(id).log;
  function get(id: number): WorkerGroupView {
    const log = logOfGroup(id);
    const nowMs = world.now();
    return {
      id,
      lineCount: lineCount(log, nowMs),
      firstRetained: firstRetained(log, nowMs),
      linesPerSecond: growthRate(log),
    };
  }
  return {
    get,
    list: () => [...settledState(world).workerGroups.keys()].map(get),
    add(entry) {
      const parsed = workerGroupEntry.parse(entry);
      const state = settledState(world);
      const owner = firstUser(state);
      state.workerGroups.set(parsed.id, workerGroupOf(parsed, owner, state.settings, world.now()));
      for (const worker of parsed.workers) state.workers.set(worker, newWorker(worker, parsed.id));
    },
    remove: (id) => void deleteWorkerGroup(settledState(world), id),
    append: (id, lines) => appendLines(logOfGroup(id), lines, world.now()),
    write: (id, text) => writeText(logOfGroup(id), text, world.now()),
    setRate(id, linesPerSecond) {
      const group = groupOf(id);
      group.linesPerSecond = linesPerSecond;
      setGrowthRate(group.log, linesPerSecond, world.now());
    },
    lines: (id, from = 0, to = Infinity) =>
      linesBetween(logOfGroup(id), from, to, world.now(), world.inferenceLog),
    clear: (id) => clearLog(logOfGroup(id), world.now()),
  };
}
