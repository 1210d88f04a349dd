/** `pilotlight plan`: flags in, report out. */
import { checkEndpointGroup } from '../../scaling/rules/check.ts';
import { RecordedLoad } from '../../scaling/planner/load/load.ts';
import { plan, planStream } from '../../scaling/planner/plan.ts';
import { givenOf } from '../../scaling/planner/given.ts';
import { searchParameters, type SearchResult, type SearchStep } from '../../scaling/planner/search/search.ts';
import { pointOf } from '../../scaling/planner/search/search-space.ts';
import { planSettings, type PlanSettings } from '../../scaling/planner/settings.ts';
import type { Console } from '../console.ts';
import { InputError } from '../input-error.ts';
import { money, seconds } from '../text/numbers.ts';
import { givenSettings, type PlanFlags } from './flags.ts';
import { loadSource, type LoadSource } from './trace/load-source.ts';
import { createReport, type LabelledPlan, type PlanReport } from './plan-report.ts';
import { factsOf, parameterSets, type ParameterSet } from './parameter-sets.ts';
import { ProgressBar, progressScreen } from './progress.ts';

type Around = Pick<Console, 'environment' | 'read' | 'err' | 'errColumns' | 'interruptible'>;

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
      ? await around.interruptible((signal) =>
          searched({ sets, settings, load, p99: flags.p99, around, signal }),
        )
      : { plans: await planned(sets, settings, load), search: undefined };
    if (plans[0]?.requests === 0) throw new InputError(`${load.name}: there are no requests in it`);
    return createReport(load, settings, given, plans, search);
  } catch (error) {
    // The planner refuses a number or a load this way.
    if (error instanceof RangeError) throw new InputError(error.message, { cause: error });
    throw error;
  }
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

interface Searched {
  readonly sets: readonly ParameterSet[];
  readonly settings: PlanSettings;
  readonly load: LoadSource;
  readonly p99: number | undefined;
  readonly around: Around;
  readonly signal: AbortSignal;
}

/** The plan of the best set beside the one of the set that was given. */
async function searched({
  sets: [set],
  settings,
  load: { arrivals },
  p99,
  around,
  signal,
}: Searched): Promise<{ readonly plans: readonly LabelledPlan[]; readonly search: SearchResult }> {
  if (!set) throw new InputError('--search needs one set of parameters to start from');
  const load = await RecordedLoad.from(arrivals);
  const bar = new ProgressBar(progressScreen(around));
  const progress = ({ done, share, best }: SearchStep) => {
    const note = best ? `best so far: cost ${money(best.cost)}, p99 ${seconds(best.p99Seconds)}` : '';
    bar.update(share, `${done} sets tried`, note);
  };
  const request = { base: set.parameters, settings, loads: [load], p99LimitSeconds: p99 };
  let search: SearchResult;
  try {
    search = await searchParameters(request, { frontier: true, signal, progress });
  } finally {
    bar.end();
  }
  const given = {
    label: 'given',
    findings: set.findings,
    ...plan({ parameters: set.parameters, settings }, load),
  };
  if (!search.best) return { plans: [given], search };
  const parameters = { ...set.parameters, ...pointOf(search.best) };
  const { findings } = checkEndpointGroup(givenOf(parameters), factsOf(settings));
  return { plans: [{ label: 'best', findings, ...plan({ parameters, settings }, load) }, given], search };
}
