/** What is known of one endpoint from looking at it, and how others see that. */
import { PilotlightError } from '../contract/pilotlight-error.ts';
import type { Worker } from '../contract/operations/serverless/workers.ts';
import type { CheckedGroup } from '../scaling/rules/check.ts';
import type { Finding, WorkerFacts } from '../scaling/rules/findings.ts';
import type { ListedEndpoint } from './discovery/knowledge.ts';
import { driftOf, findingsOf, numericParameters } from './discovery/parameters.ts';
import {
  hasServed,
  loadAfter,
  loadOfAll,
  meaningOf,
  type LoadMeaning,
  type LoadRecord,
} from './load/meaning.ts';
import type { FleetSample } from './sample.ts';
import type { Look } from './troubles/memory.ts';
import { EndpointTroubles } from './troubles/troubles.ts';
import type { EndpointView } from './view.ts';
import { isPresent, presentStatus, type WorkerLife, type FleetEvent } from './workers/lives.ts';
import type { WorkersAnswer } from './workers/measure.ts';
import { settle } from './workers/settle.ts';
import { phaseOf } from './workers/status.ts';
import { isFailing, isStuck, NO_STARTS, quantile, withStart, type StartTimes } from './workers/trouble.ts';

/** The list of workers is empty where there were some: that is a fault more often than the end of all of them. */
export class EmptyList extends PilotlightError {
  readonly code = 'empty_list';
  readonly actor = 'service';
}

export interface Surroundings {
  /** Of the last list that had it. */
  readonly row: ListedEndpoint | undefined;
  /** What it should be. */
  readonly group: CheckedGroup | undefined;
  readonly sampledAtMs: number | undefined;
  /** Of its own workers. */
  readonly lives: readonly WorkerLife[];
  readonly nowMs: number;
}

export class Observation {
  readonly id: number;
  readonly label: string;
  #starts: StartTimes;
  #sample: FleetSample | undefined;
  #lastError: string | undefined;
  /** In a row. */
  #failures = 0;
  #empties = 0;
  /** Workers whose status does not count yet. */
  #doubted: ReadonlySet<number> = new Set();
  #hasFlickered = false;
  #loads: ReadonlyMap<number, LoadRecord> = new Map();
  #load = loadOfAll([]);
  readonly #troubles = new EndpointTroubles();
  /** What the rules said last, and of what. */
  #checked: { row: ListedEndpoint; facts: WorkerFacts; findings: readonly Finding[] } | undefined;

  /** @param starts That were timed before. */
  constructor(id: number, label: string, starts: StartTimes = NO_STARTS) {
    this.id = id;
    this.label = label;
    this.#starts = starts;
  }

  get starts(): StartTimes {
    return this.#starts;
  }

  /**
   * @param lives Of its own workers.
   * @throws EmptyList where it takes a second answer to believe that there are no workers.
   */
  believe({ workers, unreadable }: WorkersAnswer, lives: Iterable<WorkerLife>): void {
    this.#empties = workers.length + unreadable === 0 ? this.#empties + 1 : 0;
    if (this.#empties !== 1) return;
    for (const life of lives)
      if (isPresent(life)) throw new EmptyList('the list of workers is empty, and was not before');
  }

  /** What the load of its workers means, as of the last answer. */
  get load() {
    return this.#load;
  }

  /** That of one worker. */
  meaningOf(worker: number): LoadMeaning | undefined {
    const record = this.#loads.get(worker);
    return record && meaningOf(record);
  }

  /** What its workers have shown of the service, by the names of the assumptions. */
  get traits() {
    const meanings = new Set([...this.#loads.values()].map(meaningOf));
    const both = meanings.has('in flight') && meanings.has('rate');
    const load = both ? 'mixed' : this.#load.meaning === 'in flight' ? 'in_flight' : this.#load.meaning;
    return {
      ...(load !== 'unknown' && { load_meaning: load }),
      ...(this.#hasFlickered && { status_flicker: 'flickers' }),
      ...(this.#troubles.now.flapping && { cold_at_max: 'flaps' }),
    } as const;
  }

  /** @returns The answer with the statuses that count. */
  understand(
    answer: WorkersAnswer,
    lifeOf: (worker: number) => WorkerLife | undefined,
    atMs: number,
  ): WorkersAnswer {
    const counted = (id: number) => {
      const life = lifeOf(id);
      return life && presentStatus(life);
    };
    const { workers, doubted } = settle(answer.workers, this.#doubted, counted, (worker) =>
      hasServed(this.#loads.get(worker.id), worker),
    );
    const isBack = ({ id }: Worker) =>
      this.#doubted.has(id) && !doubted.has(id) && phaseOf(counted(id) ?? '') === 'ready';
    this.#hasFlickered ||= workers.some(isBack);
    this.#doubted = doubted;
    const before = this.#loads;
    this.#loads = new Map(
      workers.map((one) => [one.id, loadAfter(before.get(one.id), one, atMs, lifeOf(one.id)?.load)]),
    );
    this.#load = loadOfAll([...this.#loads.values()]);
    return { ...answer, workers };
  }

  /** @returns How many looks had failed before. */
  succeeded(sample: FleetSample, events: readonly FleetEvent[]): number {
    const failures = this.#failures;
    for (const event of events)
      if (event.kind === 'worker started') this.#starts = withStart(this.#starts, event.from, event.seconds);
    this.#sample = sample;
    this.#lastError = undefined;
    this.#failures = 0;
    return failures;
  }

  /** What is wrong after a look that succeeded. */
  judge(look: Omit<Look, 'endpoint' | 'parameters'>) {
    const { row } = look;
    const parameters = row ? numericParameters(row) : {};
    return this.#troubles.judge({ ...look, endpoint: this.label, parameters });
  }

  /** @returns How many looks in a row have failed. */
  failed(error: unknown): number {
    this.#lastError = error instanceof Error ? error.message : String(error);
    this.#failures += 1;
    return this.#failures;
  }

  view({ row, group, sampledAtMs, lives, nowMs }: Surroundings): EndpointView {
    return {
      endpoint: this.label,
      id: this.id,
      state: row?.endpoint_state?.toLowerCase() || undefined,
      sample: this.#sample,
      sampledAtMs: this.#sample?.atMs ?? sampledAtMs,
      lastError: this.#lastError,
      parameters: row ? numericParameters(row) : {},
      drift: row && group ? driftOf(row, group) : [],
      findings: row ? this.#findings(row, this.#facts(lives)) : [],
      stuckWorkers: lives.filter((life) => isStuck(life, this.#starts, nowMs)).length,
      failingWorkers: lives.filter((life) => isFailing(life, nowMs)).length,
      load: this.#load,
      measured: { performances: performancesOf(lives), startSeconds: this.#starts },
      troubles: this.#troubles.now,
    };
  }

  /** The rules take a millisecond, and the view is asked for often: they run where something has changed. */
  #findings(row: ListedEndpoint, facts: WorkerFacts): readonly Finding[] {
    const { row: lastRow, facts: lastFacts } = this.#checked ?? {};
    const isSame =
      lastRow === row &&
      lastFacts?.workerPerformance === facts.workerPerformance &&
      lastFacts?.coldStartSeconds === facts.coldStartSeconds;
    if (!isSame || this.#checked === undefined)
      this.#checked = { row, facts, findings: findingsOf(row, facts) };
    return this.#checked.findings;
  }

  #facts(lives: readonly WorkerLife[]): WorkerFacts {
    const performances = performancesOf(lives);
    return {
      ...(performances.length > 0 && { workerPerformance: quantile(performances, 0.5) }),
      ...(this.#starts.cold.length > 0 && { coldStartSeconds: quantile(this.#starts.cold, 0.5) }),
    };
  }
}

function performancesOf(lives: Iterable<WorkerLife>): number[] {
  return Array.from(lives).flatMap((life) => (isPresent(life) ? (life.perf ?? []) : []));
}
