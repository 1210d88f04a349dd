/** `plan`: flags in, report out. */
import { type Console, InputError, progressBar } from '../console.ts';
import { daemonOf } from '../flag-types.ts';
import { kebab } from '../operations/flags.ts';
import { givenSettings, settingValue, type PlanFlags } from './flags.ts';
import { endpointToday, factsOf, parameterSets, type ParameterSet } from './parameter-sets.ts';
import type { TraceColumns } from './columns.ts';
import { openTrace } from './trace.ts';
import { money, seconds, number } from '../text.ts';
import { openRunner } from '../../scaling/parallel/thread-runner.ts';
import {
  GENERATOR_DEFAULTS,
  generateLoad,
  LOAD_SHAPES,
  RecordedLoad,
  type Arrival,
  type ArrivalStream,
  type LoadShape,
  type RequestSizes,
} from '../../scaling/planner/load.ts';
import type { PlanResult } from '../../scaling/planner/model/stats.ts';
import {
  estimateOf,
  planStream,
  sensitivityOf,
  variedScenarios,
  type Scenario,
  type Sensitivity,
} from '../../scaling/planner/plan.ts';
import {
  pointOf,
  searchParameters,
  type SearchResult,
  type SearchStep,
} from '../../scaling/planner/search/search.ts';
import {
  planSettings,
  MODEL,
  NOT_MODELLED,
  SETTING_OPTIONS,
  type PlanSettings,
  type PlanSetting,
} from '../../scaling/planner/settings.ts';
import { checkEndpointGroup } from '../../scaling/rules/check.ts';
import type { Finding } from '../../scaling/rules/rules.ts';

type Around = Pick<Console, 'environment' | 'read' | 'err' | 'errColumns' | 'interruptible'>;

/** @throws InputError for everything the user can fix, an AbortError if a signal ends a search */
export async function runPlan(flags: PlanFlags, around: Around): Promise<PlanReport> {
  try {
    const given = givenSettings(flags as unknown as Record<string, unknown>);
    const { endpoint } = flags;
    const today =
      endpoint === undefined
        ? undefined
        : await around.interruptible((signal) => endpointToday(endpoint, daemonOf(around, flags), signal));
    const measured = today?.settings ?? {};
    const settings = planSettings({ ...measured, ...given });
    if (flags.p99 !== undefined && !flags.search) throw new InputError('--p99 belongs to --search');
    const sets = await parameterSets(flags, settings, around, today);
    const load = await loadSource(flags, settings.seed);
    const isChance = flags.load !== undefined && flags.load !== 'constant';
    const seeds = isChance ? (flags.seeds ?? SEEDS) : 1;
    const asked: PlanRequest = { flags, sets, settings, load, seeds };
    const outcome = flags.search
      ? await around.interruptible((signal) => searched(asked, around, signal))
      : await plansOf(sets, asked, (index) => arrivalsOf(asked, index));
    if (outcome.plans[0]?.requests === 0) throw new InputError(`${load.name}: there are no requests in it`);
    return createReport(load, settings, { given, measured }, outcome);
  } catch (error) {
    // The planner refuses a number or a load with a RangeError.
    if (error instanceof RangeError) throw new InputError(error.message, { cause: error });
    throw error;
  }
}

interface Planned {
  readonly plans: readonly LabelledPlan[];
  readonly search: SearchResult | undefined;
  /** Of the first plan. */
  readonly sensitivity: readonly Sensitivity[];
}

export interface LabelledPlan extends PlanResult {
  readonly label: string;
  readonly findings: readonly Finding[];
  readonly estimates: ReturnType<typeof estimatesOf>;
}

export type PlanReport = ReturnType<typeof createReport>;

interface PlanRequest {
  readonly flags: PlanFlags;
  readonly sets: readonly ParameterSet[];
  readonly settings: PlanSettings;
  readonly load: LoadSource;
  /** How many loads of the same making; 1 for a trace. */
  readonly seeds: number;
}

/** Made-up loads, which show how much the next one may differ. */
const SEEDS = 5;

async function searched(asked: PlanRequest, around: Around, signal: AbortSignal): Promise<Planned> {
  const { flags, settings } = asked;
  const [set] = asked.sets;
  if (!set) throw new InputError('--search needs one set of parameters to start from');
  const loads: RecordedLoad[] = [];
  for (let index = 0; index < asked.seeds; index += 1)
    loads.push(await RecordedLoad.from(await arrivalsOf(asked, index)));
  const bar = progressBar(around);
  const progress = ({ done, share, best }: SearchStep) => {
    const note = best ? `best so far: cost ${money(best.cost)}, p99 ${seconds(best.p99Seconds)}` : '';
    bar.update(share, `${done} sets tried`, note);
  };
  const request = { base: set.parameters, settings, loads, p99LimitSeconds: flags.p99 };
  let search: SearchResult;
  try {
    search = await searchParameters(request, { openRunner, signal, progress });
  } finally {
    bar.end();
  }
  const given = { ...set, label: 'given', parameters: { ...set.parameters, ...pointOf(search.given) } };
  const sides: ParameterSet[] = [given];
  if (search.best) {
    const parameters = { ...set.parameters, ...pointOf(search.best) };
    const { findings } = checkEndpointGroup(parameters, factsOf(settings));
    sides.unshift({ label: 'best', parameters, findings });
  }
  return {
    ...(await plansOf(sides, asked, (index) => inPieces(loads[index] as RecordedLoad, signal))),
    search,
  };
}

/** A load of the same making for each seed. */
async function arrivalsOf({ flags, settings, load }: PlanRequest, index: number): Promise<ArrivalStream> {
  return index === 0 ? load.arrivals : (await loadSource(flags, settings.seed + index)).arrivals;
}

/** Each set under the first load, with its series, and the estimates of the others. */
async function plansOf(
  sets: readonly ParameterSet[],
  { flags, settings, seeds }: PlanRequest,
  arrivalsAt: (seed: number) => ArrivalStream | Promise<ArrivalStream>,
): Promise<Planned> {
  const [first] = sets;
  const varied = first && flags.sensitivity ? variedScenarios(first.parameters, settings) : [];
  const runs: (readonly PlanResult[])[] = [];
  for (let index = 0; index < seeds; index += 1) {
    const own = { ...settings, seed: settings.seed + index };
    const scenarios = sets.map((set): Scenario => ({
      parameters: set.parameters,
      settings: { ...own, ...set.settings },
      series: index === 0,
    }));
    runs.push(await planStream(index === 0 ? [...scenarios, ...varied] : scenarios, await arrivalsAt(index)));
  }
  const plans = sets.map(({ label, findings }, set): LabelledPlan => {
    const [own, ...others] = runs.map((each) => each[set]) as [PlanResult, ...PlanResult[]];
    return { label, findings, ...own, estimates: estimatesOf([own, ...others]) };
  });
  const [plan] = plans;
  const results = runs.flatMap((each) => each.slice(sets.length));
  const sensitivity = plan && varied.length > 0 ? sensitivityOf(plan, results) : [];
  return { plans, search: undefined, sensitivity };
}

/** Undefined: there is one load only. */
function estimatesOf(plans: readonly PlanResult[]) {
  if (plans.length < 2) return undefined;
  return {
    seeds: plans.length,
    costPerHour: estimateOf(plans.map(({ cost }) => cost.perHour)),
    p99Seconds: estimateOf(plans.map(({ queueTime }) => queueTime.p99)),
  };
}

interface Assumption {
  readonly flag: string;
  readonly value: string;
  readonly given: boolean;
  /** A daemon measured it; else, if not given, the planner assumes it. */
  readonly measured: boolean;
  readonly doc: string;
}

export function createReport(
  load: LoadSource,
  settings: PlanSettings,
  { given, measured }: Readonly<Record<'given' | 'measured', Partial<PlanSettings>>>,
  planned: Planned,
) {
  const weights = load.guessedWeights.map((value): Assumption => ({
    flag: '--weight',
    value,
    given: false,
    measured: false,
    doc: 'units of work of a request for each of this column, guessed from its name',
  }));
  const assumptions = (Object.keys(SETTING_OPTIONS) as PlanSetting[]).map((key): Assumption => ({
    flag: `--${SETTING_OPTIONS[key].flag}`,
    value: settingValue(key, settings),
    given: given[key] !== undefined,
    measured: given[key] === undefined && measured[key] !== undefined,
    doc: SETTING_OPTIONS[key].doc,
  }));
  return {
    load: { name: load.name, work: load.work, workGuessed: weights.length > 0 },
    ...planned,
    assumptions: [...weights, ...assumptions],
    model: MODEL as readonly string[],
    notModelled: NOT_MODELLED as readonly string[],
  };
}

export interface LoadSource {
  /** `azure-llm-2023-conv.csv`, or `made up: diurnal, 500 units/s`. */
  readonly name: string;
  readonly work: string;
  /** Guessed from the names of the columns, as --weight takes it: `GeneratedTokens=1`. */
  readonly guessedWeights: readonly string[];
  /** Can be read once. */
  readonly arrivals: ArrivalStream;
}

const CHANCE = LOAD_SHAPES.filter((shape) => shape !== 'constant');
/** The loads that a flag describes; it would change nothing of another. */
const LOADS_OF: readonly (readonly [flag: keyof PlanFlags, loads: readonly (LoadShape | 'trace')[]])[] = [
  ['timeColumn', ['trace']],
  ['timeUnit', ['trace']],
  ['timeZone', ['trace']],
  ['weight', ['trace']],
  ['rate', LOAD_SHAPES],
  ['duration', LOAD_SHAPES],
  ['sizes', CHANCE],
  ['seeds', CHANCE],
  ['peakRatio', ['diurnal']],
  ['period', ['diurnal']],
  ['burstRatio', ['bursts']],
  ['burstEvery', ['bursts']],
  ['burstLength', ['bursts']],
];

async function loadSource(flags: PlanFlags, seed: number): Promise<LoadSource> {
  const which = '--trace FILE of real requests, or one made up, such as --load diurnal --rate 500';
  if (flags.trace !== undefined && flags.load !== undefined)
    throw new InputError(`two loads, and one is planned for: ${which}`);
  if (flags.trace === undefined && flags.load === undefined) throw new InputError(`which load? ${which}`);
  const own = flags.load ?? 'trace';
  const idle = LOADS_OF.flatMap(([name, loads]) =>
    flags[name] === undefined || loads.includes(own)
      ? []
      : [
          `--${kebab(name)}: only of ${loads.map((load) => (load === 'trace' ? '--trace' : `--load ${load}`)).join(', ')}`,
        ],
  );
  if (idle.length > 0) throw new InputError(idle.join('\nerror: '));
  return flags.load === undefined ? await traced(flags) : madeUp(flags, seed);
}

async function traced(flags: PlanFlags): Promise<LoadSource> {
  const path = flags.trace ?? '-';
  const { columns, arrivals } = await openTrace(path, flags);
  const name = path === '-' ? 'standard input' : path.replace(/^.*\//, '');
  const weights = columns.work.map((column) => `${column.name}=${column.weight}`);
  return { name, work: formula(columns), guessedWeights: columns.guessed ? weights : [], arrivals };
}

function formula({ work, base }: TraceColumns): string {
  const terms = work.map(({ name, weight }) => (weight === 1 ? name : `${number(weight)} × ${name}`));
  return [...(base > 0 ? [number(base)] : []), ...terms].join(' + ');
}

function madeUp(flags: PlanFlags, seed: number): LoadSource {
  const { load: shape = 'constant', rate, requestWork, duration, sizes, peakRatio, period } = flags;
  if (rate === undefined)
    throw new InputError('how much load? Say --rate UNITS, the mean work that arrives a second');
  const described = {
    unitsPerRequest: requestWork,
    seconds: duration,
    sizes,
    peakRatio,
    periodSeconds: period,
    burstRatio: flags.burstRatio,
    burstEverySeconds: flags.burstEvery,
    burstSeconds: flags.burstLength,
  };
  const given = Object.fromEntries(Object.entries(described).filter(([, value]) => value !== undefined));
  const load = generateLoad({ shape, unitsPerSecond: rate, seed, ...given });
  return {
    name: `made up: ${shape}, ${number(rate)} units/s on average`,
    work: WORK[shape === 'constant' ? 'fixed' : (sizes ?? GENERATOR_DEFAULTS.sizes)],
    guessedWeights: [],
    arrivals: inPieces(load),
  };
}

const WORK: Readonly<Record<RequestSizes, string>> = {
  exponential: 'exponentially distributed',
  fixed: 'the same for all',
  'heavy-tailed': 'log-normally distributed, its standard deviation three times its mean',
};

const PIECE = 4096;

/** Signals are heard between two pieces. @throws the reason of `signal` */
async function* inPieces(load: Iterable<Arrival>, signal?: AbortSignal): ArrivalStream {
  let piece: Arrival[] = [];
  for (const arrival of load) {
    piece.push(arrival);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = [];
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
  yield piece;
}
