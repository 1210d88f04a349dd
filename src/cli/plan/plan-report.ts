/** The result of a run of `plan`: what --json prints, and what the table and the page are made of. */
import type { Finding } from '../../scaling/rules/findings.ts';
import type { PlanResult } from '../../scaling/planner/model/stats.ts';
import type { Estimate } from '../../scaling/planner/plan.ts';
import type { Sensitivity } from '../../scaling/planner/sensitivity.ts';
import type { SearchResult } from '../../scaling/planner/search/search.ts';
import {
  MODEL,
  NOT_MODELLED,
  SETTING_OPTIONS,
  type PlanSetting,
  type PlanSettings,
} from '../../scaling/planner/settings.ts';
import { settingValue } from './flags.ts';
import type { LoadSource } from './trace/load-source.ts';

interface Assumption {
  /** With its dashes. */
  readonly flag: string;
  readonly value: string;
  /** False: no flag says so. */
  readonly given: boolean;
  /** True: a daemon measured it; else, not given, the planner assumes it. */
  readonly measured: boolean;
  readonly doc: string;
}

export interface LabelledPlan extends PlanResult {
  readonly label: string;
  /** What `check` says of the parameters, without errors: there is no plan then. */
  readonly findings: readonly Finding[];
  /** Over several loads of the same making; undefined where there is one load only. */
  readonly estimates:
    | { readonly seeds: number; readonly costPerHour: Estimate; readonly p99Seconds: Estimate }
    | undefined;
}

export interface PlanReport {
  readonly load: { readonly name: string; readonly work: string; readonly workGuessed: boolean };
  readonly plans: readonly LabelledPlan[];
  readonly search: SearchResult | undefined;
  /** Of the first plan; none where it was not asked for. */
  readonly sensitivity: readonly Sensitivity[];
  readonly assumptions: readonly Assumption[];
  readonly model: readonly string[];
  readonly notModelled: readonly string[];
}

export function createReport(
  load: LoadSource,
  settings: PlanSettings,
  { given, measured }: Readonly<Record<'given' | 'measured', Partial<PlanSettings>>>,
  { plans, search, sensitivity }: Pick<PlanReport, 'plans' | 'search' | 'sensitivity'>,
): PlanReport {
  const weights = load.guessedWeights.map((value): Assumption => ({
    flag: '--weight',
    value,
    given: false,
    measured: false,
    doc: 'units of work of a request for each of this column, guessed from its name',
  }));
  return {
    load: { name: load.name, work: load.work, workGuessed: weights.length > 0 },
    plans,
    search,
    sensitivity,
    assumptions: [
      ...weights,
      ...(Object.keys(SETTING_OPTIONS) as PlanSetting[]).map((key) => ({
        flag: `--${SETTING_OPTIONS[key].flag}`,
        value: settingValue(key, settings),
        given: given[key] !== undefined,
        measured: given[key] === undefined && measured[key] !== undefined,
        doc: SETTING_OPTIONS[key].doc,
      })),
    ],
    model: MODEL,
    notModelled: NOT_MODELLED,
  };
}
