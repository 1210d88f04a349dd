/** Workers that fail: what becomes of them and of what they had. */
import type { WorkerRecord } from '../../state/endpoints/workers.ts';
import type { Requests } from '../requests/requests.ts';
import type { Site } from '../site.ts';
import type { Chronicle } from '../story/chronicle.ts';
import type { LivingGroup } from './living-group.ts';
import type { Roster } from './roster.ts';

/** How many there were so far. */
export interface FailureCounts {
  readonly deaths: number;
  readonly errors: number;
}

export interface FailuresParts {
  readonly site: Site;
  readonly roster: Roster;
  readonly group: LivingGroup;
  readonly requests: Requests;
  readonly chronicle: Chronicle;
}

export class Failures {
  readonly #parts: FailuresParts;
  #deaths: number;
  #errors: number;

  constructor(parts: FailuresParts, saved: FailureCounts = { deaths: 0, errors: 0 }) {
    this.#parts = parts;
    this.#deaths = saved.deaths;
    this.#errors = saved.errors;
  }

  get counts(): FailureCounts {
    return { deaths: this.#deaths, errors: this.#errors };
  }

  /** Its machine is gone. */
  die({ id }: WorkerRecord): void {
    const { site, roster, group, requests, chronicle } = this.#parts;
    const { now } = group.model;
    const place = roster.placeOf(id);
    if (place === undefined) return;
    this.#deaths += 1;
    chronicle.died(id, requests.lose(place, now), site.msOf(now));
    group.drop(place, 'died');
  }

  /** Its server has crashed, and begins anew. */
  err(worker: WorkerRecord): void {
    const { site, roster, group, requests, chronicle } = this.#parts;
    const { now } = group.model;
    const place = roster.placeOf(worker.id);
    if (place === undefined) return;
    this.#errors += 1;
    chronicle.erred(worker, requests.lose(place, now), site.msOf(now));
    const { workerErrorSeconds, workerColdStartSeconds } = site.state.settings;
    group.restart(place, workerErrorSeconds + workerColdStartSeconds);
  }
}
