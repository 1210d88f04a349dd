/** The result of a run of `plan`: what --json prints, and what the table and the page are made of. */
import type { Finding } from '../../scaling/rules/findings.ts';
import type { PlanResult } from '../../scaling/planner/result.ts';
import type { SearchResult } from '../../scaling/planner/search/search.ts';
import {
  MODEL,
  NOT_MODELLED,
  SETTING_OPTIONS,
  type PlanSetting,
  type PlanSettings,
} from '../../scaling/planner/settings.ts';
import { settingValue } from './format.ts';
import type { LoadSource } from './trace/load-source.ts';

export interface Assumption {
  /** With its dashes. */
  readonly flag: string;
  readonly value: string;
  /** False: no flag says so, and the planner assumes it. */
  readonly given: boolean;
  readonly doc: string;
}

export interface LabelledPlan extends PlanResult {
  readonly label: string;
  /** What `check` says of the parameters, without errors: there is no plan then. */
  readonly findings: readonly Finding[];
}

export interface PlanReport {
  readonly load: { readonly name: string; readonly work: string; readonly workGuessed: boolean };
  readonly plans: readonly LabelledPlan[];
  readonly search: SearchResult | undefined;
  readonly assumptions: readonly Assumption[];
  readonly model: readonly string[];
  readonly notModelled: readonly string[];
}

export function createReport(
  load: LoadSource,
  settings: PlanSettings,
  given: Partial<PlanSettings>,
  plans: readonly LabelledPlan[],
  search: SearchResult | undefined,
): PlanReport {
  const weights = load.guessedWeights.map((value): Assumption => ({
    flag: '--weight',
    value,
    given: false,
    doc: 'units of work of a request for each of this column, guessed from its name',
  }));
  return {
    load: { name: load.name, work: load.work, workGuessed: weights.length > 0 },
    plans,
    search,
    assumptions: [
      ...weights,
      ...(Object.keys(SETTING_OPTIONS) as PlanSetting[]).map((key) => ({
        flag: `--${SETTING_OPTIONS[key].flag}`,
        value: settingValue(key, settings),
        given: given[key] !== undefined,
        doc: SETTING_OPTIONS[key].doc,
      })),
    ],
    model: MODEL,
    notModelled: NOT_MODELLED,
  };
}
