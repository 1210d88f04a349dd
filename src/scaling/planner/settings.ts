/**
 * Everything that the planner assumes beside the parameters. Flags, the printed list of assumptions and the
 * checks of values come from this table.
 */

/** Units of work that a worker does a second; each worker is drawn evenly between the bounds. */
export interface Performance {
  readonly least: number;
  readonly most: number;
}

/** `seconds` and `performance` are written in their own way on a command line. */
interface Kinds {
  readonly seconds: number;
  readonly number: number;
  readonly count: number;
  readonly performance: Performance;
  readonly choice: string;
  readonly workers: number | 'floor';
}

export interface SettingOption {
  /** Without the leading dashes. */
  readonly flag: string;
  readonly kind: keyof Kinds;
  readonly choices?: readonly string[];
  /** `seconds` and `number` may be zero unless this says so. */
  readonly positive?: true;
  /** Allows `never` (Infinity). */
  readonly never?: true;
  /** The assumption, and why. */
  readonly doc: string;
}

/** Order: the user's workers, the service's behaviour, the simulation. */
export const SETTING_OPTIONS = {
  performance: {
    flag: 'performance',
    kind: 'performance',
    positive: true,
    doc: 'units of work that one worker does in a second; 80..120 draws each worker evenly between the two. Measure it: everything else hangs on it',
  },
  startSeconds: {
    flag: 'start-time',
    kind: 'seconds',
    doc: 'time from nothing to ready: renting a machine, fetching the image, loading the model',
  },
  coldStartSeconds: {
    flag: 'cold-start',
    kind: 'seconds',
    doc: 'time from cold (stopped, everything on disk) to ready',
  },
  priceHot: {
    flag: 'price-hot',
    kind: 'number',
    doc: 'price of an hour of a worker that is hot, serving or not',
  },
  priceCold: {
    flag: 'price-cold',
    kind: 'number',
    doc: 'price of an hour of a cold worker: its disk, not its GPU',
  },
  priceStarting: {
    flag: 'price-starting',
    kind: 'number',
    doc: 'price of an hour of a worker that is starting: its GPU is already in use, so the hot price unless given',
  },
  slots: {
    flag: 'slots',
    kind: 'count',
    positive: true,
    doc: 'requests that a worker serves side by side, each at its share of the performance; 1 is what the public documentation describes (100 units on a worker of 100 units/s take a second)',
  },
  controlSeconds: {
    flag: 'control-interval',
    kind: 'seconds',
    positive: true,
    doc: 'the group looks at its load and decides how many workers it wants once in this time',
  },
  loadWindowSeconds: {
    flag: 'load-window',
    kind: 'seconds',
    positive: true,
    doc: 'its estimate of the load is the mean of the work that arrived in this time',
  },
  scaleDownSeconds: {
    flag: 'scale-down-delay',
    kind: 'seconds',
    never: true,
    doc: 'it stops hot workers, which leaves them cold, only when it has not wanted them hot for this time, as most autoscalers do',
  },
  destroySeconds: {
    flag: 'destroy-delay',
    kind: 'seconds',
    never: true,
    doc: 'it destroys cold workers only when it has not wanted them at all for this time; much longer than the other delay, for a cold worker costs little and a new one takes long',
  },
  queueResponse: {
    flag: 'queue-response',
    kind: 'choice',
    choices: ['clear', 'one-worker'],
    doc: 'when the expected wait is beyond target_queue_time it asks for the capacity that clears the queue within target_queue_time (clear), or for one worker more at each decision (one-worker)',
  },
  routing: {
    flag: 'routing',
    kind: 'choice',
    choices: ['shortest', 'random'],
    doc: 'a request goes to the worker with the shortest expected queue, its work being known when it arrives (shortest), or to any worker that may still take it (random)',
  },
  stopping: {
    flag: 'stopping',
    kind: 'choice',
    choices: ['drain', 'idle'],
    doc: 'a worker that is no longer wanted takes no new requests and finishes the ones it has (drain), or is stopped only once it has none (idle)',
  },
  initialWorkers: {
    flag: 'initial-workers',
    kind: 'workers',
    doc: 'hot workers at the start; floor: as many as the parameters keep without load',
  },
  giveUpSeconds: {
    flag: 'give-up',
    kind: 'seconds',
    positive: true,
    never: true,
    doc: 'a client that has waited this long goes away; never: it waits however long it takes',
  },
  seed: {
    flag: 'seed',
    kind: 'count',
    doc: 'of everything that is left to chance: the same seed gives the same plan',
  },
} as const satisfies Record<string, SettingOption>;
export type PlanSetting = keyof typeof SETTING_OPTIONS;

type ValueOf<Option extends SettingOption> = Option extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Kinds[Option['kind']];
/** Seconds, units/s, prices an hour; SETTING_OPTIONS says what each is, and which may be Infinity (`never`). */
export type PlanSettings = { readonly [Key in PlanSetting]: ValueOf<(typeof SETTING_OPTIONS)[Key]> };

/** Without priceStarting: it is the hot price. */
export const SETTING_DEFAULTS = {
  performance: { least: 250, most: 250 },
  startSeconds: 300,
  coldStartSeconds: 30,
  priceHot: 1,
  priceCold: 0.05,
  slots: 1,
  controlSeconds: 5,
  loadWindowSeconds: 60,
  scaleDownSeconds: 60,
  destroySeconds: 1800,
  queueResponse: 'clear',
  routing: 'shortest',
  stopping: 'drain',
  initialWorkers: 'floor',
  giveUpSeconds: Infinity,
  seed: 1,
} as const satisfies Omit<PlanSettings, 'priceStarting'>;

/** Fills in what is not given. Throws a RangeError that names the flag when a value makes no sense. */
export function planSettings(given: Partial<PlanSettings> = {}): PlanSettings {
  const priceStarting = given.priceHot ?? SETTING_DEFAULTS.priceHot;
  const settings: PlanSettings = { ...SETTING_DEFAULTS, priceStarting, ...given };
  for (const key of Object.keys(SETTING_OPTIONS) as PlanSetting[]) {
    const problem = problemWith(SETTING_OPTIONS[key], settings[key]);
    if (problem !== undefined)
      throw new RangeError(
        `--${SETTING_OPTIONS[key].flag}: got ${inWords(settings[key])}; allowed: ${problem}`,
      );
  }
  return settings;
}

function inWords(value: PlanSettings[PlanSetting]): string {
  return typeof value === 'object' ? `${value.least}..${value.most}` : String(value);
}

/** The allowed values, if `value` is not one of them. */
function problemWith(
  { kind, choices = [], positive, never }: SettingOption,
  value: unknown,
): string | undefined {
  if (kind === 'choice')
    return choices.includes(value as string) ? undefined : `one of ${choices.join(', ')}`;
  if (kind === 'performance') {
    const { least, most } = value as Performance;
    const isRange = least > 0 && most >= least && most < Infinity;
    return isRange ? undefined : 'a number above 0, or two such as 80..120, the smaller first';
  }
  if (kind === 'workers' ? value === 'floor' : never && value === Infinity) return undefined;
  const number = value as number;
  if (!Number.isFinite(number) || number < 0 || (positive && number === 0))
    return `a number ${positive ? 'above 0' : 'of at least 0'}`;
  const isWhole = kind === 'count' || kind === 'workers';
  return isWhole && !Number.isSafeInteger(number) ? 'a whole number' : undefined;
}

/** How the planner reads the interface, for people. Where each comes from is part of the sentence. */
export const MODEL = [
  'Capacity wanted = max(min_load, estimated load) / target_util; in workers as many as that takes (interface §2.7, public documentation).',
  'Workers in all, hot and cold = max(cold_mult × capacity wanted, min_cold_load), at least cold_workers, never fewer than are wanted hot, at most max_workers (interface §2.7, public documentation).',
  'A worker takes a request while its expected queue is at most max_queue_time; the rest wait in one global queue, first come first served (public documentation).',
  'An expected wait beyond target_queue_time asks for more workers (public documentation).',
  'Until inactivity_timeout has passed without a request one worker stays hot; a negative value keeps it for ever, 0 or none does not keep it; min_load is a floor all the same (interface §2.7, public documentation).',
  'A worker started from nothing goes into service if it is wanted hot once it is ready, else it becomes cold.',
] as const;

/** What a plan leaves out. */
export const NOT_MODELLED = [
  'starts that fail or take longer than said',
  'machines that cannot be had when they are wanted',
  'the network between client and worker',
  'other groups that share the endpoint',
  'bandwidth, which the service bills apart: some cents for each start that fetches a large model',
  'forecasts: public documentation mentions them, and does not say how they work',
  'over-recruiting: users saw a cold start boot up to max_workers, and the service stop the rest afterwards',
  'cold_mult of the load instead of the capacity, as some documentation reads: give cold_mult × target_util for that',
] as const;
