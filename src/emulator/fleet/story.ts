/** Writes the log of an endpoint in the forms of the service (evidence 2.8), one file a level. */
import type { Observation } from '../../scaling/planner/model/control-loop.ts';
import type { Decision } from '../../scaling/planner/model/group.ts';
import { createRandom, mixSeeds } from '../random.ts';
import type {
  EndpointGroupRecord,
  EndpointLogs,
  GroupLog,
  WorkerGroupRecord,
  WorkerLife,
  WorkerPhase,
  WorkerRecord,
} from '../state/serverless.ts';
import {
  appendLines,
  clockText,
  createGroupLog,
  engineTime,
  setGrowth,
  setLooks,
  startup,
  TIME_MARK,
  traceback,
} from '../state/worker-log.ts';
import type { Site } from './site.ts';
import { countsText, GPU } from './workers.ts';

/** Lines; levels that write much at each look keep fewer. */
const [KEPT, KEPT_OF_LOOKS] = [10_000, 2_000];

/** No level is ever empty. */
export function createEngineLogs(id: number, sinceMs: number): EndpointLogs {
  const source = { kind: 'replay', lines: [], loop: false } as const;
  const begun = (retainedLines: number): GroupLog => {
    const log = createGroupLog({ source, linesPerSecond: 0, retainedLines, sinceMs });
    appendLines(log, [eventLine(`endpoint ${id} is there`, sinceMs)], sinceMs);
    return log;
  };
  return {
    info0: begun(KEPT),
    info1: begun(KEPT),
    trace: begun(KEPT_OF_LOOKS),
    debug: begun(KEPT_OF_LOOKS),
  };
}

export function noteEvent({ logs }: Pick<EndpointGroupRecord, 'logs'>, text: string, nowMs: number): void {
  for (const log of [logs.info1, logs.info0]) appendLines(log, [eventLine(text, nowMs)], nowMs);
}

function eventLine(text: string, nowMs: number): string {
  return `${engineTime(nowMs)} [autoscaler.cpp:1427 manage_workers] ${text}`;
}

export class Story {
  readonly #site: Site;
  readonly #workers: () => readonly WorkerRecord[];
  #load: string | undefined;
  #decision: { readonly decision: Decision; readonly moves: string[] } | undefined;

  constructor(site: Site, workers: () => readonly WorkerRecord[]) {
    this.#site = site;
    this.#workers = workers;
  }

  /** The workers changed: each look shows them so from now on. */
  see(atMs: number): void {
    const { endpoint, state, epochMs: sinceMs } = this.#site;
    const { id, logs } = endpoint;
    const everyMs = 1000 * state.settings.engineDecisionSeconds;
    const workers = this.#workers();
    const phases = countsText(workers.map(({ life }) => life?.phase ?? 'unmanaged')) || 'none';
    const head = `${TIME_MARK} [autoscaler.cpp:1182 manage_instances] managing instances of endpoint ${id}: ${phases}`;
    const grow = (log: GroupLog, lines: readonly string[]) =>
      setLooks(log, { lines: [head, ...lines], everyMs, sinceMs }, atMs);
    grow(logs.info0, this.#load === undefined ? [] : [`[manage_workers][update_strategy] ${this.#load}`]);
    grow(
      logs.trace,
      workers.map((worker) => `types.h[1363] run_value ${(worker.perf ?? 0).toFixed(2)} of ${worker.id}`),
    );
    grow(logs.debug, tableOf(workers));
  }

  looked(observed: Observation, atMs: number): void {
    const isIdle = observed.load === 0 && observed.waitingRequests === 0;
    this.#load = isIdle ? undefined : observationText(observed);
    // The look of this moment shows it too.
    this.see(atMs - 1);
  }

  /** `say` adds to this decision until it is carried out. */
  decided(decision: Decision): void {
    this.#decision = { decision, moves: [] };
  }

  carriedOut(atMs: number): void {
    const { decision, moves } = this.#decision ?? {};
    this.#decision = undefined;
    if (!decision || !moves || moves.length === 0) return;
    this.say(`${moves.join(', ')}: ${wishText(decision)}; ${observationText(decision.observed)}`, atMs);
  }

  say(text: string, atMs: number): void {
    if (this.#decision) this.#decision.moves.push(text);
    else noteEvent(this.#site.endpoint, text, atMs);
  }

  /** `halted`: the engine did not move it. */
  moved({ id, groupId, life }: WorkerRecord, before: WorkerLife, halted: boolean, atMs: number): void {
    const { phase, sinceMs } = before;
    const isIdleAtOnce = life?.phase === 'cold' && phase === 'creating' && !halted;
    const seconds = (atMs - sinceMs) / 1000;
    const text = isIdleAtOnce
      ? `${id} is there after ${seconds} s and not wanted now: it stops`
      : moveText(id, phase, life?.phase, seconds);
    if (text !== undefined) this.say(text, atMs);
    const hasStarted = ['creating', 'starting', 'rebooting'].includes(phase);
    if (hasStarted && (life?.phase === 'ready' || isIdleAtOnce))
      this.#write(groupId, startup(createRandom(mixSeeds(id, sinceMs))), sinceMs, atMs);
  }

  erred({ id, groupId }: WorkerRecord, lost: number, atMs: number): void {
    this.#write(groupId, traceback(createRandom(mixSeeds(id, atMs))), atMs, atMs);
    this.say(`${id} has erred, lost ${lost} requests and reboots`, atMs);
  }

  #write(groupId: number, lines: readonly string[], fromMs: number, atMs: number): void {
    const group = this.#site.state.workerGroups.get(groupId);
    const timed = lines.map((line, index) =>
      line.replaceAll(TIME_MARK, clockText(fromMs + ((atMs - fromMs) * (index + 1)) / lines.length)),
    );
    if (group) appendLines(group.log, timed, atMs);
  }
}

const WIDTH = 12;
const COLUMNS = ['ID', 'MeasPerf', 'Reli', 'DLPerf', 'Disk', 'Status'] as const;

function tableOf(workers: readonly WorkerRecord[]): string[] {
  if (workers.length === 0) return [];
  const machine = [GPU.reliability.toFixed(3), GPU.dlperf.toFixed(1), GPU.diskUsage.toFixed(1)];
  const rows = workers.map(({ id, perf, life }) => [
    String(id),
    perf?.toFixed(1) ?? '-',
    ...machine,
    life?.phase ?? '-',
  ]);
  return [COLUMNS, ...rows].map((row) => row.map((cell) => cell.padStart(WIDTH)).join(''));
}

function moveText(id: number, before: WorkerPhase, after: WorkerPhase | undefined, seconds: number) {
  switch (after) {
    case 'ready':
      return before === 'draining' ? `calls ${id} back` : `${id} is ready after ${seconds} s (${before})`;
    case 'starting':
      return `starts ${id} from cold`;
    case 'draining':
      return `stops ${id} once it has done what it has`;
    case 'cold':
      return `stops ${id}`;
    default:
      return undefined;
  }
}

function observationText({ load, waitingRequests, expectedWaitSeconds }: Observation): string {
  const wait =
    expectedWaitSeconds === Infinity ? 'no worker is ready' : `a wait of ${rounded(expectedWaitSeconds)} s`;
  return `estimated load ${rounded(load)} units/s, ${waitingRequests} requests wait, ${wait}`;
}

function wishText({ wanted }: Decision): string {
  const { hotCapacity, hotWorkers, totalCapacity, totalWorkers } = wanted;
  const one = hotWorkers > 0 ? ', at least one worker' : '';
  return (
    `wants ${rounded(hotCapacity)} units/s ready${one}, ` +
    `${rounded(totalCapacity)} with stopped ones, at least ${totalWorkers} workers`
  );
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Waiting servers write a tenth of the lines. */
const IDLE_SHARE = 0.1;

export function followWork(group: WorkerGroupRecord, serving: number, busy: boolean, atMs: number): void {
  const linesPerSecond = group.linesPerSecond * serving * (busy ? 1 : IDLE_SHARE);
  setGrowth(group.log, { linesPerSecond, scenes: busy ? 'busy' : 'idle' }, atMs);
}
