/** One endpoint as its looks showed it, and its view for others. */
import type { Worker } from '../contract/operations/serverless/workers.ts';
import { messageOf, PilotlightError } from '../contract/pilotlight-error.ts';
import type { CheckedGroup } from '../scaling/rules/check.ts';
import type { Finding } from '../scaling/rules/rules.ts';
import { driftOf, findingsOf, type ListedEndpoint, numericParameters } from './discovery/endpoints.ts';
import type { EndpointLook } from './troubles/memory.ts';
import { EndpointTroubles } from './troubles/troubles.ts';
import type { EndpointView } from './view.ts';
import {
  isFailing,
  isPresent,
  isStuck,
  livesOf,
  NO_STARTS,
  presentStatus,
  quantile,
  withStart,
  type FleetEvent,
  type Lives,
  type StartTimes,
  type WorkerLife,
} from './workers/lives.ts';
import type { FleetSample, WorkersAnswer } from './workers/measure.ts';
import {
  hasServed,
  loadAfter,
  type LoadMeaning,
  loadOfAll,
  type LoadRecord,
  meaningOf,
  phaseOf,
  statusOf,
} from './workers/reports.ts';

/** An empty list after a full one is more often a fault than the truth. */
export class EmptyList extends PilotlightError {
  readonly code = 'empty_list';
  readonly actor = 'service';
}

export interface Surroundings {
  readonly row: ListedEndpoint | undefined;
  /** Its group of PILOTLIGHT_ENDPOINT_GROUPS. */
  readonly group: CheckedGroup | undefined;
  readonly sampledAtMs: number | undefined;
  readonly lives: readonly WorkerLife[];
  readonly nowMs: number;
}

export class ObservedEndpoint {
  readonly id: number;
  readonly label: string;
  #starts: StartTimes;
  #sample: FleetSample | undefined;
  #lastError: string | undefined;
  #failures = 0;
  #empties = 0;
  /** Workers whose last status does not count yet. */
  #doubted: ReadonlySet<number> = new Set();
  #hasFlickered = false;
  #loads: ReadonlyMap<number, LoadRecord> = new Map();
  #load = loadOfAll([]);
  readonly #troubles = new EndpointTroubles();
  /** The last findings, and their inputs. */
  #findings: { readonly of: readonly unknown[]; readonly all: readonly Finding[] } = { of: [], all: [] };

  constructor(id: number, label: string, starts: StartTimes = NO_STARTS) {
    this.id = id;
    this.label = label;
    this.#starts = starts;
  }

  get starts(): StartTimes {
    return this.#starts;
  }

  get load() {
    return this.#load;
  }

  meaningOf(worker: number): LoadMeaning | undefined {
    const record = this.#loads.get(worker);
    return record && meaningOf(record);
  }

  /** What its workers have shown of the service, by the names of the traits. */
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

  /**
   * Returns the answer with the statuses that count. Throws EmptyList if a second answer must confirm that
   * there are no workers.
   */
  understand({ workers: rows, unreadable }: WorkersAnswer, lives: Lives, atMs: number): WorkersAnswer {
    this.#empties = rows.length + unreadable === 0 ? this.#empties + 1 : 0;
    if (this.#empties === 1 && livesOf(lives, this.label).some(isPresent))
      throw new EmptyList('the list of workers is empty, and was not before');
    const doubted = new Set<number>();
    const workers = rows.map((worker): Worker => {
      const life = lives.get(worker.id);
      const last = life && presentStatus(life);
      const wasDoubted = this.#doubted.has(worker.id);
      const counted = withCountedStatus(worker, last, hasServed(this.#loads.get(worker.id), worker));
      this.#hasFlickered ||= wasDoubted && counted !== undefined && phaseOf(last ?? '') === 'ready';
      if (counted) return counted;
      doubted.add(worker.id);
      return last === undefined || wasDoubted ? worker : withStatus(worker, last);
    });
    const before = this.#loads;
    this.#doubted = doubted;
    this.#loads = new Map(
      workers.map((one) => [one.id, loadAfter(before.get(one.id), one, atMs, lives.get(one.id)?.load)]),
    );
    this.#load = loadOfAll([...this.#loads.values()]);
    return { workers, unreadable };
  }

  /** Returns how many looks had failed before. */
  succeeded(sample: FleetSample, events: readonly FleetEvent[]): number {
    const failures = this.#failures;
    for (const event of events)
      if (event.kind === 'worker started') this.#starts = withStart(this.#starts, event.from, event.seconds);
    this.#sample = sample;
    this.#lastError = undefined;
    this.#failures = 0;
    return failures;
  }

  judge(look: Omit<EndpointLook, 'endpoint' | 'parameters'>) {
    const { row } = look;
    const parameters = row ? numericParameters(row) : {};
    return this.#troubles.judge({ ...look, endpoint: this.label, parameters });
  }

  /** Returns how many looks in a row have failed. */
  failed(error: unknown): number {
    this.#lastError = messageOf(error);
    this.#failures += 1;
    return this.#failures;
  }

  view({ row, group, sampledAtMs, lives, nowMs }: Surroundings): EndpointView {
    const performances = lives.flatMap((life) => (isPresent(life) ? (life.perf ?? []) : []));
    return {
      endpoint: this.label,
      id: this.id,
      state: row?.endpoint_state?.toLowerCase() || undefined,
      sample: this.#sample,
      sampledAtMs: this.#sample?.atMs ?? sampledAtMs,
      lastError: this.#lastError,
      parameters: row ? numericParameters(row) : {},
      drift: row && group ? driftOf(row, group) : [],
      findings: row ? this.#check(row, performances) : [],
      stuckWorkers: lives.filter((life) => isStuck(life, this.#starts, nowMs)).length,
      failingWorkers: lives.filter((life) => isFailing(life, nowMs)).length,
      load: this.#load,
      measured: { performances, startSeconds: this.#starts },
      troubles: this.#troubles.now,
    };
  }

  /** The rules take a millisecond and views are frequent, so they run only after a change. */
  #check(row: ListedEndpoint, performances: readonly number[]): readonly Finding[] {
    const typical = (values: readonly number[]) => (values.length > 0 ? quantile(values, 0.5) : undefined);
    const [workerPerformance, coldStartSeconds] = [typical(performances), typical(this.#starts.cold)];
    const of = [row, workerPerformance, coldStartSeconds];
    if (of.some((one, index) => one !== this.#findings.of[index]))
      this.#findings = { of, all: findingsOf(row, { workerPerformance, coldStartSeconds }) };
    return this.#findings.all;
  }
}

/**
 * Statuses flicker while a report is late. So the loss of a ready status, or an unknown status, counts after
 * two looks: until then the result is undefined. `last` is the status that counts so far.
 */
function withCountedStatus(worker: Worker, last: string | undefined, serves: boolean): Worker | undefined {
  const status = statusOf(worker);
  const phase = phaseOf(status);
  const wasReady = phaseOf(last ?? '') === 'ready';
  // The engine decides a stop, so it counts at once.
  const isBadNews = phase === undefined || (wasReady && phase !== 'ready' && phase !== 'cold');
  if (status === last || !isBadNews) return worker;
  const mayBeLate = phase === undefined || phase === 'starting';
  return mayBeLate && serves ? withStatus(worker, (wasReady && last) || 'idle') : undefined;
}

function withStatus(worker: Worker, status: string): Worker {
  return { ...worker, status };
}
