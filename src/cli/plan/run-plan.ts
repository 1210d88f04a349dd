/** `pilotlight plan`: flags in, report out. */
import { openRunner } from '../../scaling/parallel/thread-runner.ts';
import { estimateOf } from '../../scaling/planner/estimate.ts';
import { RecordedLoad } from '../../scaling/planner/load/load.ts';
import { plan as planFor, planStream } from '../../scaling/planner/plan.ts';
import type { PlanResult } from '../../scaling/planner/model/stats.ts';
import { pointOf, type SearchPoint } from '../../scaling/planner/search/search-space.ts';
import { searchParameters, type SearchResult, type SearchStep } from '../../scaling/planner/search/search.ts';
import { sensitivityOf, variedScenarios } from '../../scaling/planner/sensitivity.ts';
import { planSettings, type PlanSettings } from '../../scaling/planner/settings.ts';
import { checkEndpointGroup } from '../../scaling/rules/check.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import type { Console } from '../console.ts';
import { InputError } from '../command-error.ts';
import { money, seconds } from '../text/numbers.ts';
import { givenSettings, type PlanFlags } from './flags.ts';
import { loadSource, type LoadSource } from './trace/load-source.ts';
import { createReport, type LabelledPlan, type PlanReport } from './plan-report.ts';
import { factsOf, parameterSets, type ParameterSet } from './parameter-sets.ts';
import { ProgressBar } from './progress.ts';

type Around = Pick<Console, 'environment' | 'read' | 'err' | 'errColumns' | 'interruptible'>;

/** @throws InputError for everything that the user can fix, an AbortError if a signal ends a search */
export async function runPlan(flags: PlanFlags, around: Around): Promise<PlanReport> {
  try {
    const given = givenSettings(flags as unknown as Record<string, unknown>);
    const settings = planSettings(given);
    if (flags.search && flags.compare) throw new InputError('--search or --compare, one of them');
    if (flags.search && flags.alwaysOn !== undefined)
      throw new InputError('--search or --always-on, one of them');
    if (flags.p99 !== undefined && !flags.search) throw new InputError('--p99 belongs to --search');
    const sets = parameterSets(flags, settings, around);
    const load = await loadSource(flags, settings.seed);
    const seeds = seedsOf(flags);
    const asked: Asked = { flags, sets, settings, load, seeds };
    const outcome = flags.search
      ? await around.interruptible((signal) => searched(asked, around, signal))
      : await planned(asked);
    if (outcome.plans[0]?.requests === 0) throw new InputError(`${load.name}: there are no requests in it`);
    return createReport(load, settings, given, outcome);
  } catch (error) {
    // The planner refuses a number or a load this way.
    if (error instanceof RangeError) throw new InputError(error.message, { cause: error });
    throw error;
  }
}

type Planned = Pick<PlanReport, 'plans' | 'search' | 'sensitivity'>;

interface Asked {
  readonly flags: PlanFlags;
  readonly sets: readonly ParameterSet[];
  readonly settings: PlanSettings;
  readonly load: LoadSource;
  /** How many loads of the same making; 1 of a trace, which there is one of. */
  readonly seeds: number;
}

/** Loads that are made up say by how much the next one may differ. */
const SEEDS = 5;

function seedsOf({ load, seeds = SEEDS }: PlanFlags): number {
  return load === undefined || load === 'constant' ? 1 : Math.max(1, seeds);
}

async function planned({ flags, sets, settings, load, seeds }: Asked): Promise<Planned> {
  const [first] = sets;
  const varied = first && flags.sensitivity ? variedScenarios(first.parameters, settings) : [];
  const scenarios = sets.map((set) => ({
    parameters: set.parameters,
    settings: { ...settings, ...set.settings },
  }));
  const results = await planStream([...scenarios, ...varied], load.arrivals);
  const all = [results.slice(0, sets.length)];
  for (let index = 1; index < seeds; index += 1) {
    const own = { ...settings, seed: settings.seed + index };
    const { arrivals } = await loadSource(flags, own.seed);
    const again = sets.map((set) => ({
      parameters: set.parameters,
      settings: { ...own, ...set.settings },
      series: false,
    }));
    all.push([...(await planStream(again, arrivals))]);
  }
  const plans = sets.flatMap(({ label, findings }, set): LabelledPlan[] => {
    const [own, ...others] = all.flatMap((each) => each[set] ?? []);
    return own ? [{ label, findings, ...own, estimates: estimatesOf([own, ...others]) }] : [];
  });
  const [plan] = plans;
  const sensitivity = plan && varied.length > 0 ? sensitivityOf(plan, results.slice(sets.length)) : [];
  return { plans, search: undefined, sensitivity };
}

function estimatesOf(plans: readonly PlanResult[]): LabelledPlan['estimates'] {
  if (plans.length < 2) return undefined;
  return {
    seeds: plans.length,
    costPerHour: estimateOf(plans.map(({ cost }) => cost.perHour)),
    p99Seconds: estimateOf(plans.map(({ queueTime }) => queueTime.p99)),
  };
}

/** The plan of the best set beside the one of the set that was given. */
async function searched(asked: Asked, around: Around, signal: AbortSignal): Promise<Planned> {
  const { flags, settings } = asked;
  const [set] = asked.sets;
  if (!set) throw new InputError('--search needs one set of parameters to start from');
  const loads = await loadsOf(asked);
  const bar = new ProgressBar(around);
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
  const labels = search.best ? ['best', 'given'] : ['given'];
  const points = search.best ? [search.best, search.given] : [search.given];
  const parameters = points.map((point) => withPoint(set.parameters, point));
  const sides = await plansOf(parameters, settings, loads, signal);
  const plans = sides.flatMap((own, index): LabelledPlan[] => {
    const [plan] = own;
    const label = labels[index] ?? '';
    const { findings } = checkEndpointGroup(parameters[index], factsOf(settings));
    const said = label === 'given' ? set.findings : findings;
    return plan ? [{ label, findings: said, ...plan, estimates: estimatesOf(own) }] : [];
  });
  const [plan] = plans;
  const [load] = loads;
  const varied = plan && flags.sensitivity ? variedScenarios(plan.parameters, settings) : [];
  const results = load ? varied.map((scenario) => planFor(scenario, load)) : [];
  return { plans, search, sensitivity: plan && varied.length > 0 ? sensitivityOf(plan, results) : [] };
}

/** Of each set its plan under each load; under the first one with its series. */
async function plansOf(
  sets: readonly ResolvedParameters[],
  settings: PlanSettings,
  loads: readonly RecordedLoad[],
  signal: AbortSignal,
): Promise<readonly (readonly PlanResult[])[]> {
  const plans = sets.map((): PlanResult[] => []);
  for (const [index, load] of loads.entries()) {
    const own = { ...settings, seed: settings.seed + index };
    for (const [set, parameters] of sets.entries()) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      plans[set]?.push(planFor({ parameters, settings: own, series: index === 0 }, load));
    }
  }
  return plans;
}

function withPoint(parameters: ResolvedParameters, point: SearchPoint): ResolvedParameters {
  return { ...parameters, ...pointOf(point) };
}

async function loadsOf({ flags, settings, load, seeds }: Asked): Promise<readonly RecordedLoad[]> {
  const loads = [await RecordedLoad.from(load.arrivals)];
  for (let index = 1; index < seeds; index += 1) {
    const { arrivals } = await loadSource(flags, settings.seed + index);
    loads.push(await RecordedLoad.from(arrivals));
  }
  return loads;
}
