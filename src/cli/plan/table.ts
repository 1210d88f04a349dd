/** A plan as rows and sentences. */
import { ENDPOINT_GROUP_PARAMETERS } from '../../contract/operations/serverless/endpoint-groups.ts';
import { DEFAULT_FILLED_IN } from '../../scaling/rules/check.ts';
import type { CostAndWait, Estimate, Sensitivity } from '../../scaling/planner/plan.ts';
import { SEARCH_AXES, spreadOver, type SearchResult } from '../../scaling/planner/search/search.ts';
import { SETTING_OPTIONS } from '../../scaling/planner/settings.ts';
import { money, number, percent, seconds, legible, aligned } from '../text.ts';
import type { LabelledPlan, PlanReport } from './run-plan.ts';
import { plural } from '../../daemon/status/page/status-words.js';

type Row = readonly [name: string, value: (plan: LabelledPlan) => string];

function cellsOf(rows: readonly (Row | undefined)[], plans: readonly LabelledPlan[]): string[][] {
  const head = plans.length > 1 ? [['', ...plans.map(({ label }) => label)]] : [];
  return [...head, ...rows.map((row) => (row ? [row[0], ...plans.map(row[1])] : []))];
}

const waited = (share: number, limit: number) => `${percent(share)} (${seconds(limit)})`;

const RESULT_ROWS: readonly Row[] = [
  ['queue time, mean', ({ queueTime }) => seconds(queueTime.mean)],
  ['queue time, p50', ({ queueTime }) => seconds(queueTime.p50)],
  ['queue time, p95', ({ queueTime }) => seconds(queueTime.p95)],
  ['queue time, p99', ({ queueTime }) => seconds(queueTime.p99)],
  ['queue time, longest', ({ queueTime }) => seconds(queueTime.max)],
  [
    'waited over target_queue_time',
    ({ share, parameters }) => waited(share.overTargetQueueTime, parameters.target_queue_time),
  ],
  [
    'waited over max_queue_time',
    ({ share, parameters }) => waited(share.overMaxQueueTime, parameters.max_queue_time),
  ],
  ['gave up waiting', ({ share, settings }) => waited(share.abandoned, settings.giveUpSeconds)],
  [
    'hot workers, mean and most',
    ({ workerHours, seconds: length, peakWorkers }) =>
      `${number(length === 0 ? 0 : (workerHours.hot * 3600) / length)}, ${peakWorkers.hot}`,
  ],
  ['workers in all, most', ({ peakWorkers }) => String(peakWorkers.total)],
  ['starts from cold', ({ starts }) => number(starts.fromCold)],
  ['starts from nothing', ({ starts }) => number(starts.fromNothing)],
  ['utilisation', ({ utilisation }) => percent(utilisation)],
  ['worker hours, hot', ({ workerHours }) => number(workerHours.hot)],
  ['worker hours, cold', ({ workerHours }) => number(workerHours.cold)],
  ['worker hours, starting', ({ workerHours }) => number(workerHours.starting)],
  ['cost', ({ cost }) => money(cost.total)],
  ['cost an hour', ({ cost }) => money(cost.perHour)],
  ['cost of 1,000 requests', ({ cost }) => money(cost.perThousandRequests)],
];

/** The intervals of the two figures that matter most. */
function estimateRows([first]: readonly LabelledPlan[]): readonly Row[] {
  const seeds = first?.estimates?.seeds;
  if (seeds === undefined) return [];
  const between = (format: (value: number) => string, estimate?: Estimate) =>
    estimate && `${format(estimate.mean)} (${format(Math.max(0, estimate.low))} to ${format(estimate.high)})`;
  return [
    [`queue time, p99, mean of ${seeds} loads`, (plan) => between(seconds, plan.estimates?.p99Seconds) ?? ''],
    [`cost an hour, mean of ${seeds} loads`, (plan) => between(money, plan.estimates?.costPerHour) ?? ''],
  ];
}

/** Of several plans only those that differ. */
function parameterRows(plans: readonly LabelledPlan[]): readonly Row[] {
  const shown = ENDPOINT_GROUP_PARAMETERS.filter((name) => {
    // The label tells several plans apart.
    if (plans.length > 1 && name === 'endpoint_name') return false;
    const values = new Set(plans.map(({ parameters }) => parameters[name]));
    return plans.length === 1 ? !values.has(undefined) : values.size > 1;
  });
  return shown.map((name) => [name, ({ parameters }) => String(parameters[name] ?? 'not set')]);
}

export function loadSentence({ load, plans }: PlanReport): string {
  const [plan] = plans;
  if (!plan) return load.name;
  const { requests, work, series } = plan;
  // Without the time of a queue that is left at the end. All requests may come at once.
  const length = plan.loadSeconds > 0 ? plan.loadSeconds : plan.seconds;
  const rate = length === 0 ? 0 : work.arrived / length;
  const peak = series
    ? `, ${number(Math.max(...series.load))} at the peak (mean of ${seconds(series.intervalSeconds)})`
    : '';
  return `${load.name}: ${plural(requests, 'request')} in ${seconds(length)}, ${number(rate)} units/s on average${peak}`;
}

/** Defaults that were filled in are in the table anyway. */
function adviceLines(plans: readonly LabelledPlan[]): readonly string[] {
  return plans.flatMap(({ label, findings }) =>
    findings
      .filter(({ rule }) => rule !== DEFAULT_FILLED_IN)
      .map(({ severity, parameter, message }) => `${severity}: ${parameter}: ${message}`)
      .map((line) => (plans.length > 1 ? `${label}: ${line}` : line)),
  );
}

/** Without its full stop; undefined: no limit was asked for. */
export function searchSentence({ best, frontier, p99LimitSeconds: limit }: SearchResult): string | undefined {
  if (limit === undefined) return undefined;
  if (best) {
    const set = SEARCH_AXES.map((axis) => `${axis} ${best[axis]}`).join(', ');
    const cost = `cost ${money(best.cost)}, ${money(best.costPerHour)} an hour`;
    return `Cheapest with p99 at most ${seconds(limit)}: ${set} (p99 ${seconds(best.p99Seconds)}, ${cost})`;
  }
  const quickest = seconds(frontier.at(-1)?.p99Seconds ?? 0);
  return `None of them has a p99 of at most ${seconds(limit)}; the quickest has ${quickest}`;
}

const SHOWN = 3;

export function sensitivityLines({ plans: [plan], sensitivity }: PlanReport): readonly string[] {
  if (!plan || sensitivity.length === 0) return [];
  const own: CostAndWait = { costPerHour: plan.cost.perHour, p99Seconds: plan.queueTime.p99 };
  const flag = ({ setting }: Sensitivity) => `--${SETTING_OPTIONS[setting].flag}`;
  const moving = sensitivity.filter(({ half, double }) =>
    [half, double].some((one) => inWords(one) !== inWords(own)),
  );
  const [most] = moving;
  if (!most) return ['Halving or doubling any one assumption changes neither cost nor p99.'];
  return [
    `The result depends most on ${flag(most)} (cost an hour ${money(own.costPerHour)}, p99 ${seconds(own.p99Seconds)}):`,
    ...moving
      .slice(0, SHOWN)
      .map((each) => `  ${flag(each)}: half of it ${inWords(each.half)}; double ${inWords(each.double)}`),
  ];
}

function inWords({ costPerHour, p99Seconds }: CostAndWait): string {
  return `costs ${money(costPerHour)}, p99 ${seconds(p99Seconds)}`;
}

export function planTable(report: PlanReport): readonly string[] {
  const { plans, search, load } = report;
  const rows = [...parameterRows(plans), undefined, ...RESULT_ROWS, ...estimateRows(plans)];
  return [
    loadSentence(report),
    `work of a request: ${legible(load.work)}${load.workGuessed ? ' (assumed; --weight COLUMN=UNITS says otherwise)' : ''}`,
    '',
    ...(search ? [...searchLines(search), ''] : []),
    ...aligned(cellsOf(rows, plans), 1),
    '',
    ...adviceLines(plans),
    ...sensitivityLines(report),
    ...assumptionLines(report),
    'Not in the model:',
    ...report.notModelled.map((line) => `  - ${line}`),
    'This is a model of the service, made from its documentation: the figures are for comparing, not for billing.',
  ];
}

function assumptionLines({ assumptions }: PlanReport): string[] {
  const words = (wanted: (each: (typeof assumptions)[number]) => boolean) =>
    assumptions
      .filter(wanted)
      .map(({ flag, value }) => `${flag} ${value.includes(' ') ? `"${value}"` : value}`);
  const said = words(({ given }) => given);
  const seen = words(({ measured }) => measured);
  const assumed = words(({ given, measured }) => !given && !measured);
  const head = 'Assumed; each flag changes it (--help says what it means):';
  return [
    ...(said.length > 0 ? [`Given: ${said.join('  ')}`] : []),
    ...(seen.length > 0 ? [`Measured by the daemon: ${seen.join('  ')}`] : []),
    ...(assumed.length > 0 ? [head, ...wrapped(assumed)] : []),
  ];
}

function wrapped(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 100) lines[lines.length - 1] = `${last}  ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines;
}

function searchLines(search: SearchResult): string[] {
  const { tried, givenUp, frontier } = search;
  const verdict = searchSentence(search);
  const rows = spreadOver(frontier, 12).map((one) =>
    [money(one.cost), seconds(one.p99Seconds)].concat(SEARCH_AXES.map((axis) => String(one[axis]))),
  );
  const whose = search.best ? 'Its plan' : 'The plan of the parameters given';
  return [
    `${tried.length + givenUp} sets tried, ${tried.length} of them completely; ${frontier.length} that no other beats in both cost and p99:`,
    '',
    ...aligned([['cost', 'p99', ...SEARCH_AXES], ...rows], 0).map((line) => `  ${line}`),
    '',
    ...(verdict === undefined ? [] : [`${verdict}. ${whose}:`]),
  ];
}
