/** `pilotlight plan`: flags in, report out. */
import { checkEndpointGroup } from '../../scaling/rules/check.ts';
import { RecordedLoad } from '../../scaling/planner/load/load.ts';
import { plan, planStream } from '../../scaling/planner/plan.ts';
import { givenOf, searchParameters, type SearchResult } from '../../scaling/planner/search/search.ts';
import { planSettings, type PlanSettings } from '../../scaling/planner/settings.ts';
import type { Console } from '../console.ts';
import { InputError } from '../input-error.ts';
import { money, seconds } from '../text/numbers.ts';
import { givenSettings, type PlanFlags } from './flags.ts';
import { loadSource, type LoadSource } from './trace/load-source.ts';
import { createReport, type LabelledPlan, type PlanReport } from './plan-report.ts';
import { factsOf, parameterSets, type ParameterSet } from './parameter-sets.ts';
import { ProgressBar, type ProgressScreen } from './progress.ts';

type Around = Pick<Console, 'environment' | 'read' | 'err' | 'errColumns'>;

/** @throws InputError for everything that the user can fix */
export async function runPlan(flags: PlanFlags, around: Around): Promise<PlanReport> {
  try {
    const given = givenSettings(flags as unknown as Record<string, unknown>);
    const settings = planSettings(given);
    if (flags.search && flags.compare) throw new InputError('--search or --compare, one of them');
    if (flags.p99 !== undefined && !flags.search) throw new InputError('--p99 belongs to --search');
    const sets = parameterSets(flags, settings, around);
    const load = await loadSource(flags, settings.seed);
    const { plans, search } = flags.search
      ? await searched(sets, settings, load, flags.p99, new ProgressBar(screenOf(around)))
      : { plans: await planned(sets, settings, load), search: undefined };
    if (plans[0]?.requests === 0) throw new InputError(`${load.name}: there are no requests in it`);
    return createReport(load, settings, given, plans, search);
  } catch (error) {
    // The planner refuses a number or a load this way.
    if (error instanceof RangeError) throw new InputError(error.message, { cause: error });
    throw error;
  }
}

function screenOf(around: Around): ProgressScreen {
  return {
    isTTY: around.errColumns !== undefined,
    write: around.err,
    now: () => performance.now(),
    columns: () => around.errColumns ?? 80,
  };
}

async function planned(
  sets: readonly ParameterSet[],
  settings: PlanSettings,
  { arrivals }: LoadSource,
): Promise<readonly LabelledPlan[]> {
  const results = await planStream(
    sets.map(({ parameters }) => ({ parameters, settings })),
    arrivals,
  );
  return sets.flatMap(({ label, findings }, index) => {
    const result = results[index];
    return result ? [{ label, findings, ...result }] : [];
  });
}

/** The plan of the best set beside the one of the set that was given. */
async function searched(
  [set]: readonly ParameterSet[],
  settings: PlanSettings,
  { arrivals }: LoadSource,
  p99: number | undefined,
  bar: ProgressBar,
): Promise<{ readonly plans: readonly LabelledPlan[]; readonly search: SearchResult }> {
  if (!set) throw new InputError('--search needs one set of parameters to start from');
  const load = await RecordedLoad.from(arrivals);
  const search = driven(searchParameters(set.parameters, settings, load, p99), bar);
  const given = {
    label: 'given',
    findings: set.findings,
    ...plan({ parameters: set.parameters, settings }, load),
  };
  if (!search.best) return { plans: [given], search };
  const { target_util, cold_mult, cold_workers, min_load } = search.best;
  const parameters = { ...set.parameters, target_util, cold_mult, cold_workers, min_load };
  const { findings } = checkEndpointGroup(givenOf(parameters), factsOf(settings));
  return { plans: [{ label: 'best', findings, ...plan({ parameters, settings }, load) }, given], search };
}

function driven(steps: ReturnType<typeof searchParameters>, bar: ProgressBar): SearchResult {
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      bar.end();
      return value;
    }
    const { best } = value;
    const note = best ? `best so far: cost ${money(best.cost)}, p99 ${seconds(best.p99Seconds)}` : '';
    bar.update(value.share, `${value.done} sets tried`, note);
  }
}
