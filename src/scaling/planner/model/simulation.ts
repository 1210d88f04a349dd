/** One endpoint group under a load, and what came of it: the model with its statistics. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { PlanResult } from '../result.ts';
import type { PlanSettings } from '../settings.ts';
import { GroupModel } from './group.ts';
import { PlanStats } from './stats.ts';

export interface Scenario {
  readonly parameters: ResolvedParameters;
  readonly settings: PlanSettings;
  /** False leaves the series out, which saves time and memory where only the totals count. */
  readonly series?: boolean;
}

export class Simulation {
  readonly #stats: PlanStats;
  readonly #group: GroupModel;

  /** Throws a RangeError for parameters that no load could ever be planned with. */
  constructor({ parameters, settings, series = true }: Scenario) {
    if (!(Number.isSafeInteger(parameters.max_workers) && parameters.max_workers >= 1)) {
      throw new RangeError(`max_workers: an integer of at least 1, not ${parameters.max_workers}`);
    }
    this.#stats = new PlanStats(parameters, settings, series);
    this.#group = new GroupModel({ parameters, settings, observer: this.#stats });
    const { initialWorkers } = settings;
    this.#group.place(initialWorkers === 'floor' ? undefined : initialWorkers);
  }

  /**
   * A request arrives. Throws a RangeError when it comes before the one in front of it, or its work is not a
   * number of at least 0.
   */
  arrive(atSeconds: number, work: number): void {
    this.#group.arrive(atSeconds, work);
  }

  /** Runs on until every request is done, and `atLeastSeconds` have passed, and says what came of it. */
  finish(atLeastSeconds = 0): PlanResult {
    const group = this.#group;
    group.advance(Math.max(group.now, atLeastSeconds));
    while (group.waiting > 0) group.advance(group.nextDecision);
    group.advance(group.lastBusy);
    this.#stats.workersUntil(group.now, group.workers);
    return this.#stats.result(group.totals);
  }
}
