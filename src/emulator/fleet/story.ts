/** What the engine of an endpoint does, told in the log of the endpoint and in those of its worker groups. */
import type { Observation } from '../../scaling/planner/model/demand.ts';
import type { Decision } from '../../scaling/planner/model/observer.ts';
import { createRandom, mixSeeds } from '../random.ts';
import type { WorkerGroupRecord, WorkerLife, WorkerPhase, WorkerRecord } from '../state/endpoints.ts';
import { appendLines, clockText, setGrowth } from '../worker-log/group-log.ts';
import { startup, TIME_MARK, traceback } from '../worker-log/inference-log.ts';
import { noteEvent, setSight } from './engine-log.ts';
import type { Site } from './site.ts';

export class Story {
  readonly #site: Site;
  readonly #workers: () => readonly WorkerRecord[];
  /** As the last look saw it; undefined if there was none. */
  #load: string | undefined;
  /** The one that is being carried out. */
  #decision: { readonly decision: Decision; readonly moves: string[] } | undefined;

  /** @param workers Those of now. */
  constructor(site: Site, workers: () => readonly WorkerRecord[]) {
    this.#site = site;
    this.#workers = workers;
  }

  /** The workers are others, or do something else: each look at them shows that from now on. */
  see(atMs: number): void {
    const { endpoint, state, epochMs } = this.#site;
    const everyMs = 1000 * state.settings.engineDecisionSeconds;
    const sight = { workers: this.#workers(), load: this.#load, everyMs, sinceMs: epochMs };
    setSight(endpoint, sight, atMs);
  }

  looked(observed: Observation, atMs: number): void {
    const isIdle = observed.load === 0 && observed.waitingRequests === 0;
    this.#load = isIdle ? undefined : observationText(observed);
    // The look of this moment is among those that show it.
    this.see(atMs - 1);
  }

  /** What is said from now on is part of it. */
  decided(decision: Decision): void {
    this.#decision = { decision, moves: [] };
  }

  /** One that moved nothing is not told. */
  carriedOut(atMs: number): void {
    const { decision, moves } = this.#decision ?? {};
    this.#decision = undefined;
    if (!decision || !moves || moves.length === 0) return;
    const why = `${wishText(decision)}; ${observationText(decision.observed)}`;
    noteEvent(this.#site.endpoint, `${moves.join(', ')}: ${why}`, atMs);
  }

  /** Part of the decision that is being carried out, or by itself. */
  say(text: string, atMs: number): void {
    if (this.#decision) this.#decision.moves.push(text);
    else noteEvent(this.#site.endpoint, text, atMs);
  }

  /**
   * A worker has gone from one phase of its life to another; with it, what it writes to its log.
   * @param halted by somebody else than the engine
   */
  moved({ id, groupId, life }: WorkerRecord, before: WorkerLife, halted: boolean, atMs: number): void {
    const isIdleAtOnce = life?.phase === 'cold' && before.phase === 'creating' && !halted;
    const seconds = (atMs - before.sinceMs) / 1000;
    const text = isIdleAtOnce
      ? `${id} is there after ${seconds} s and not wanted now: it stops`
      : moveText(id, before.phase, life?.phase, seconds);
    if (text !== undefined) this.say(text, atMs);
    const hasStarted = ['creating', 'starting', 'rebooting'].includes(before.phase);
    const isUp = life?.phase === 'ready' || isIdleAtOnce;
    const group = this.#site.state.workerGroups.get(groupId);
    if (group && hasStarted && isUp) writeStart(group, id, before.sinceMs, atMs);
  }

  died(id: number, lost: number, atMs: number): void {
    this.say(`${id} has died, and ${lost} requests with it`, atMs);
  }

  erred({ id, groupId }: WorkerRecord, lost: number, atMs: number): void {
    const group = this.#site.state.workerGroups.get(groupId);
    if (group) writeError(group, id, atMs);
    this.say(`${id} has erred, lost ${lost} requests and reboots`, atMs);
  }
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

/** Of the lines that a server writes at work, so many a hundred it writes when it waits for some. */
const IDLE_SHARE = 0.1;

/** A worker is ready: what it wrote from `fromMs` until then. */
function writeStart(group: WorkerGroupRecord, workerId: number, fromMs: number, atMs: number): void {
  const lines = startup(createRandom(mixSeeds(workerId, fromMs)));
  const timed = lines.map((line, index) =>
    line.replaceAll(TIME_MARK, clockText(fromMs + ((atMs - fromMs) * (index + 1)) / lines.length)),
  );
  appendLines(group.log, timed, atMs);
}

function writeError(group: WorkerGroupRecord, workerId: number, atMs: number): void {
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
