/** What the planner's model is given: an endpoint and its surroundings, its settings, and its load. */
import { type Arrival, generateLoad } from '../../scaling/planner/load.ts';
import { planSettings, type PlanSettings } from '../../scaling/planner/settings.ts';
import { resolveDefaults } from '../../scaling/rules/check.ts';
import type { ResolvedParameters } from '../../scaling/rules/rules.ts';
import { mixSeeds } from '../random.ts';
import type {
  EndpointGroupRecord,
  LoadRecord,
  WorkerGroupRecord,
  WorkerRecord,
} from '../state/serverless.ts';
import type { Settings } from '../state/settings.ts';
import type { State } from '../state/state.ts';
import { startSecondsOf } from './starts.ts';

export interface Surroundings {
  readonly state: State;
  readonly endpoint: EndpointGroupRecord;
  readonly groups: readonly WorkerGroupRecord[];
  readonly workers: readonly WorkerRecord[];
}

/** A plan with these settings does what the emulator does. */
export function planSettingsOf(settings: Settings, endpointId: number): PlanSettings {
  const { workerPerformanceLeast: least } = settings;
  return planSettings({
    performance: { least, most: Math.max(least, settings.workerPerformanceMost) },
    slots: settings.workerSlots,
    startSeconds: startSecondsOf(settings, 'creating'),
    coldStartSeconds: startSecondsOf(settings, 'starting'),
    priceHot: (settings.workerPriceLeast + settings.workerPriceMost) / 2,
    controlSeconds: settings.engineDecisionSeconds,
    loadWindowSeconds: settings.engineLoadWindowSeconds,
    scaleDownSeconds: settings.engineScaleDownSeconds,
    destroySeconds: settings.engineDestroySeconds,
    giveUpSeconds: settings.requestGiveUpSeconds,
    // Chance differs between endpoints.
    seed: mixSeeds(settings.randomSeed, endpointId),
  });
}

/** Of an endpoint, whatever its max_workers. */
const MOST_WORKERS = 500;

export function parametersIn({ endpoint, groups }: Surroundings): ResolvedParameters {
  const parameters = resolveDefaults(endpoint.parameters);
  // Without a worker group there is nothing to recruit for.
  const most = groups.length > 0 ? MOST_WORKERS : 0;
  return { ...parameters, max_workers: Math.min(parameters.max_workers, most) };
}

const FOREVER_SECONDS = 1e11;

export class LoadSource {
  readonly record: LoadRecord;
  readonly #offset: number;
  readonly #requests: Iterator<Arrival>;
  #taken = -1;
  #next: Arrival | undefined;

  constructor(record: LoadRecord, epochMs: number) {
    this.record = record;
    this.#offset = (record.sinceMs - epochMs) / 1000;
    const { spec } = record;
    const load = generateLoad({
      shape: spec.shape,
      unitsPerSecond: spec.rate,
      unitsPerRequest: spec.request_work,
      seconds: FOREVER_SECONDS,
      seed: spec.seed,
      sizes: spec.sizes,
      peakRatio: spec.peak_ratio,
      periodSeconds: spec.period_seconds,
      burstRatio: spec.burst_ratio,
      burstEverySeconds: spec.burst_every_seconds,
      burstSeconds: spec.burst_seconds,
    });
    this.#requests = load[Symbol.iterator]();
    do this.take();
    while (this.nextAt < 0);
  }

  get taken(): number {
    return this.#taken;
  }

  get nextAt(): number {
    return this.#next === undefined ? Infinity : this.#offset + this.#next.atSeconds;
  }

  take(): number {
    const work = this.#next?.work ?? 0;
    const { done, value } = this.#requests.next();
    this.#next = done ? undefined : value;
    this.#taken += 1;
    return work;
  }
}
