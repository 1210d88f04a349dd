/** What a plan hangs on, in words; for the terminal and the page. */
import type { Outcome, Sensitivity } from '../../scaling/planner/sensitivity.ts';
import { SETTING_OPTIONS } from '../../scaling/planner/settings.ts';
import { money, seconds } from '../text/numbers.ts';
import type { PlanReport } from './plan-report.ts';

/** Beside the first one that many more, where they move anything. */
const SHOWN = 3;

export function sensitivityLines({ plans: [plan], sensitivity }: PlanReport): readonly string[] {
  if (!plan || sensitivity.length === 0) return [];
  const own: Outcome = { costPerHour: plan.cost.perHour, p99Seconds: plan.queueTime.p99 };
  const flag = ({ setting }: Sensitivity) => `--${SETTING_OPTIONS[setting].flag}`;
  const moving = sensitivity.filter(({ half, double }) => !isSame(half, own) || !isSame(double, own));
  const [most] = moving;
  if (!most) return ['Halving or doubling any one assumption changes neither cost nor p99.'];
  return [
    `It hangs most on ${flag(most)} (cost an hour ${money(own.costPerHour)}, p99 ${seconds(own.p99Seconds)}):`,
    ...moving
      .slice(0, SHOWN)
      .map((each) => `  ${flag(each)}: half of it ${inWords(each.half)}; double ${inWords(each.double)}`),
  ];
}

function inWords({ costPerHour, p99Seconds }: Outcome): string {
  return `costs ${money(costPerHour)}, p99 ${seconds(p99Seconds)}`;
}

/** As it is printed. */
function isSame(one: Outcome, other: Outcome): boolean {
  return inWords(one) === inWords(other);
}
