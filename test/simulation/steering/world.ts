/** A world in which an endpoint is steered: one seed gives one. What it is like, and what happens in it when. */
import type { AdvisedParameter } from '../../../src/scaling/advice/advice.ts';
import type { Bounds } from '../../../src/scaling/autotune/bounds.ts';
import { planSettings, type PlanSettings } from '../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../src/scaling/rules/check.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';
import { Random } from '../random.ts';
import { DAY_MINUTES, demandOf, hasDemand, SOURCES, type Source } from './demand.ts';
import type { Sayings } from './endpoint.ts';

/**
 * `truthful`: the model has the truth. The others are each wrong in one way: requests that nobody has seen before (`crowd`),
 * workers that do less and less (`drift`), starts that take twice as long from some day on (`slow starts`), workers that die
 * (`deaths`), a service that says twice or half of what workers can do (`lies`), a model whose start times and performance
 * are half or double (`wrong model`), and everything that can happen to a steering process (`trouble`): holes in the
 * history, restarts, requests without an answer, a person's hand.
 */
export const KINDS = [
  'truthful',
  'crowd',
  'drift',
  'slow starts',
  'deaths',
  'lies',
  'wrong model',
  'trouble',
] as const;
export type Kind = (typeof KINDS)[number];

/** History before steering begins, and the week in which it steers, days; shorter where only some worlds are run. */
export const HISTORY_DAYS = 2;
export const STEERED_DAYS = process.env['STEERING_WORLDS'] === undefined ? 4 : 7;
export const WORLD_MINUTES = (HISTORY_DAYS + STEERED_DAYS) * DAY_MINUTES;

export type Happening =
  | { readonly minute: number; readonly kind: 'drift'; readonly factor: number }
  | { readonly minute: number; readonly kind: 'become'; readonly settings: Partial<PlanSettings> }
  | { readonly minute: number; readonly kind: 'death' }
  /** Of steering alone; the twin knows none of these. */
  | { readonly minute: number; readonly kind: 'restart' }
  | { readonly minute: number; readonly kind: 'hole'; readonly minutes: number }
  /** Of a person, who sets it in both worlds. */
  | { readonly minute: number; readonly kind: 'hand'; readonly coldWorkers: number };

export interface World {
  readonly seed: number;
  readonly kind: Kind;
  readonly source: Source;
  readonly parameters: ResolvedParameters;
  readonly bounds: Bounds;
  readonly limitSeconds: number;
  /** Of the service and its workers. */
  readonly settings: PlanSettings;
  /** What the model believes, where it is not that. */
  readonly believed: Partial<PlanSettings>;
  readonly sayings: Sayings;
  /** Mean work of a request, units. */
  readonly requestSize: number;
  /** Units/s, by the minute. */
  readonly demand: readonly number[];
  readonly happenings: readonly Happening[];
  /** Of requests to the service, the part that is not answered as it should be. */
  readonly unanswered: number;
}

/** Workers that a load of 1 takes, at most, so that worlds stay small. */
const MEAN_WORKERS = [0.8, 2] as const;
const PERFORMANCE = 10;
/** What a person has named: how much may vary decides how long a search takes. */
const BOUNDED: readonly [readonly AdvisedParameter[], ...(readonly AdvisedParameter[])[]] = [
  ['target_util', 'min_load'],
  ['target_util', 'cold_workers', 'min_load'],
  ['target_util', 'cold_mult', 'min_load'],
];

function someOf(names: readonly AdvisedParameter[], bounds: Bounds): Bounds {
  return Object.fromEntries(names.map((name) => [name, bounds[name]]));
}

/** Undefined where its demand is real, and not there: another world of the same seed would prove something else. */
export function worldOf(seed: number, only?: Kind): World | undefined {
  const random = new Random(seed);
  const kind = only ?? KINDS[seed % KINDS.length] ?? 'truthful';
  const source = random.pick(SOURCES);
  if (!hasDemand(source)) return undefined;
  const mean = PERFORMANCE * random.between(...MEAN_WORKERS);
  const demand = demandOf(source, mean, WORLD_MINUTES, random.next);
  if (kind === 'crowd') addCrowd(demand, random);
  const coldStartSeconds = random.pick([60, 90, 120]);
  const settings = planSettings({
    performance: { least: PERFORMANCE, most: PERFORMANCE },
    startSeconds: coldStartSeconds * random.pick([3, 5]),
    coldStartSeconds,
    priceHot: 1,
    priceCold: random.pick([0.05, 0.1]),
    controlSeconds: 120,
    loadWindowSeconds: 240,
    scaleDownSeconds: random.pick([240, 600]),
    destroySeconds: 3600,
    seed,
  });
  const peak = Math.ceil(Math.max(...demand) / PERFORMANCE);
  const maxWorkers = Math.max(10, 2 * peak);
  const coldWorkers = random.pick([5, 8, Math.min(12, maxWorkers)]);
  return {
    seed,
    kind,
    source,
    parameters: resolveDefaults({
      target_util: random.pick([0.5, 0.6, 0.7, 0.8, 0.9]),
      cold_mult: random.pick([1.5, 2.5, 3]),
      cold_workers: Math.min(coldWorkers, maxWorkers),
      min_load: mean * random.pick([0, 0.3, 0.6, 1]),
      max_workers: maxWorkers,
    }),
    bounds: someOf(random.pick(BOUNDED), {
      target_util: [0.4, 0.95],
      cold_mult: [1, 4],
      cold_workers: [1, Math.max(coldWorkers, Math.min(15, maxWorkers))],
      min_load: [0, 2 * mean],
    }),
    limitSeconds: random.pick([120, 180, 240]),
    settings,
    believed: kind === 'wrong model' ? wrong(settings, random) : {},
    sayings: { capacity: kind === 'lies' ? random.pick([0.5, 2]) : 1 },
    requestSize: PERFORMANCE * random.pick([40, 80, 120]),
    demand,
    happenings: happeningsOf(kind, random, settings),
    unanswered: kind === 'trouble' ? 0.3 : 0,
  };
}

/** Several times the highest there was, for a quarter of an hour to an hour, some time in the week. */
function addCrowd(demand: number[], random: Random): void {
  const most = Math.max(...demand);
  const crowds = random.pick([1, 1, 2]);
  for (let crowd = 0; crowd < crowds; crowd += 1) {
    const from = Math.floor(random.between(HISTORY_DAYS * DAY_MINUTES, WORLD_MINUTES - 60));
    const [length, height] = [random.between(15, 60), most * random.between(1.5, 4)];
    for (let minute = from; minute < from + length; minute += 1) demand[minute] = height;
  }
}

function wrong(
  { startSeconds, coldStartSeconds, performance }: PlanSettings,
  random: Random,
): Partial<PlanSettings> {
  const factor = random.pick([0.5, 2]);
  const speed = performance.least * random.pick([0.5, 1, 1.5]);
  return {
    startSeconds: startSeconds * factor,
    coldStartSeconds: coldStartSeconds * factor,
    performance: { least: speed, most: speed },
  };
}

function happeningsOf(kind: Kind, random: Random, settings: PlanSettings): Happening[] {
  const first = HISTORY_DAYS * DAY_MINUTES;
  const some = (perDay: number): number[] => {
    const count = Math.round(perDay * (STEERED_DAYS + HISTORY_DAYS));
    return Array.from({ length: count }, () => Math.floor(random.between(0, WORLD_MINUTES)));
  };
  const happenings: Happening[] = [];
  switch (kind) {
    case 'drift': {
      const most = random.pick([1.3, 1.6]);
      for (let day = HISTORY_DAYS; day < HISTORY_DAYS + STEERED_DAYS; day += 1) {
        const factor = 1 + ((most - 1) * (day - HISTORY_DAYS + 1)) / STEERED_DAYS;
        happenings.push({ minute: day * DAY_MINUTES, kind: 'drift', factor });
      }
      break;
    }
    case 'slow starts': {
      const { startSeconds, coldStartSeconds } = settings;
      const slower = { startSeconds: 2 * startSeconds, coldStartSeconds: 2 * coldStartSeconds };
      const minute = first + Math.floor(random.between(0, 4 * DAY_MINUTES));
      happenings.push({ minute, kind: 'become', settings: slower });
      break;
    }
    case 'deaths':
      for (const minute of some(random.pick([1, 4]))) happenings.push({ minute, kind: 'death' });
      break;
    case 'trouble':
      for (const minute of some(0.5)) happenings.push({ minute, kind: 'restart' });
      for (const minute of some(1)) {
        happenings.push({ minute, kind: 'hole', minutes: Math.floor(random.between(2, 90)) });
      }
      if (random.chance(0.5)) {
        const minute = first + Math.floor(random.between(0, 5 * DAY_MINUTES));
        happenings.push({ minute, kind: 'hand', coldWorkers: 1 + Math.floor(random.between(0, 6)) });
      }
      break;
    default:
      break;
  }
  return happenings.toSorted((one, other) => one.minute - other.minute);
}
