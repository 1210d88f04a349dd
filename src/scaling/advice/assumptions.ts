/** What an advice goes by beside the parameters: told from what was recorded, given, or taken from the planner. */
import { planSettings, SETTING_DEFAULTS, type PlanSettings } from '../planner/settings.ts';
import { requestSize, type RequestSize } from './load/request-size.ts';
import type { Recorded, Wishes } from './recorded.ts';
import type { Assumption } from './report.ts';
import { latePerformanceRatio, performanceOf, startsOf } from './workers/measured.ts';
import { lateCostRatio, pricesOf } from './workers/prices.ts';

export interface Known {
  readonly settings: PlanSettings;
  /** What a cold worker costs an hour in what was recorded: nothing, where the service does not tell it. */
  readonly recordedPriceCold: number;
  /** Whether that of the settings is assumed. */
  readonly isColdAssumed: boolean;
  readonly size: RequestSize;
  readonly assumptions: readonly Assumption[];
}

/** What of the service is varied by half and double, and what it is called. */
export const VARIED = {
  startSeconds: 'start from nothing',
  coldStartSeconds: 'start from cold',
  controlSeconds: 'time between two decisions',
  loadWindowSeconds: 'window of the load estimate',
  scaleDownSeconds: 'delay until a hot worker is stopped',
  destroySeconds: 'delay until a cold worker is destroyed',
} as const satisfies Partial<Record<keyof PlanSettings, string>>;

/** What a cold worker costs of the price of a hot one, where the service tells no price of storage: as the planner has it. */
const COLD_SHARE = SETTING_DEFAULTS.priceCold / SETTING_DEFAULTS.priceHot;
/** Less than that is no price that anybody asks for a disk: nobody told any, and the looks counted it as nothing. */
const LEAST_COLD_SHARE = 0.001;

/**
 * What workers cost, or do, just now against the mean of all the time: more, and that mean is not that of the next days. A
 * price does not differ by chance; what workers do does, by which of them are there.
 */
const MOST_CHANGE = { cost: 1.1, performance: 1.15 };

/** @returns in words, what is lacking to advise anything */
export function knownOf(recorded: Recorded, wishes: Wishes): Known | string {
  const performance = performanceOf(recorded);
  if (!performance) return 'no worker was ever ready, so nobody knows what one can do';
  const prices = pricesOf(recorded.stretches);
  if (!prices) return 'no price of a worker was ever known';
  const dearer = lateCostRatio(recorded.stretches, prices) ?? 1;
  if (hasChanged(dearer, MOST_CHANGE.cost)) {
    return `workers cost ${short(dearer)} times lately what they did before: it takes some time at one price`;
  }
  const quicker = latePerformanceRatio(recorded.stretches) ?? 1;
  if (hasChanged(quicker, MOST_CHANGE.performance)) {
    return `workers do ${short(quicker)} times lately what they did before: it takes some time at one performance`;
  }
  const size = requestSize(recorded.stretches, wishes.requestSize);
  if (!size) return 'nothing tells how large requests are: name it with --request-size';
  const { startSeconds, coldStartSeconds, seen } = startsOf(recorded);
  const first = recorded.stretches[0];
  const toldCold = prices.cold >= LEAST_COLD_SHARE * prices.hot ? prices.cold : undefined;
  const settings = planSettings({
    performance,
    startSeconds,
    coldStartSeconds,
    priceHot: prices.hot,
    priceCold: toldCold ?? COLD_SHARE * prices.hot,
    priceStarting: prices.starting,
    initialWorkers: Math.min(recorded.parameters.max_workers, Math.round(first?.hot ?? 0)),
    ...wishes.assumed,
  });
  const given = (name: keyof PlanSettings, otherwise: Assumption['from']) =>
    wishes.assumed?.[name] === undefined ? otherwise : 'given';
  const isColdAssumed = toldCold === undefined && wishes.assumed?.priceCold === undefined;
  const { least, most } = settings.performance;
  const assumptions: Assumption[] = [
    { name: REQUEST_SIZE, value: sizeInWords(size), from: size.from === 'given' ? 'given' : 'assumed' },
    {
      name: 'performance of a worker',
      value: least === most ? `${short(least)} units/s` : `${short(least)} to ${short(most)} units/s`,
      from: given('performance', 'measured'),
    },
    {
      name: 'price of an hour',
      value: `hot ${short(settings.priceHot)}, starting ${short(settings.priceStarting)}`,
      from: given('priceHot', 'measured'),
    },
    {
      name: PRICE_COLD,
      value: `${short(settings.priceCold)}${isColdAssumed ? ', not told by the service' : ''}`,
      from: given('priceCold', isColdAssumed ? 'assumed' : 'measured'),
    },
    ...(Object.keys(VARIED) as (keyof typeof VARIED)[]).map((name): Assumption => {
      const count = name === 'startSeconds' ? seen.new : name === 'coldStartSeconds' ? seen.cold : 0;
      return {
        name: VARIED[name],
        value: `${short(settings[name])} s${count > 0 ? `, the mean of ${count}` : ''}`,
        from: given(name, count > 0 ? 'measured' : 'assumed'),
      };
    }),
  ];
  const recordedPriceCold = isColdAssumed ? prices.cold : settings.priceCold;
  return { settings, recordedPriceCold, isColdAssumed, size, assumptions };
}

function hasChanged(ratio: number, most: number): boolean {
  return Math.max(ratio, 1 / ratio) > most;
}

export const REQUEST_SIZE = 'size of a request';
export const PRICE_COLD = 'price of an hour of a cold worker';

function sizeInWords({ mean, dispersion, from }: RequestSize): string {
  const how = from === 'given' ? '' : ', told from how the load varies between looks';
  return `${short(mean)} units${how}${dispersion > 3 ? ', several at once' : ''}`;
}

/** Three digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
