/** A plan in the terminal. */
import { aligned } from '../text/cell-width.ts';
import { legible } from '../text/legible.ts';
import type { SearchResult } from '../../scaling/planner/search/search.ts';
import type { PlanReport } from './plan-report.ts';
import {
  adviceLines,
  cellsOf,
  estimateRows,
  loadSentence,
  parameterRows,
  RESULT_ROWS,
  searchCounts,
  searchRows,
  searchVerdict,
  sensitivityLines,
} from './rows.ts';

/** Lines to print. */
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

/** The settings that were given and those that are assumed, as flags; --help says what each means. */
function assumptionLines({ assumptions }: PlanReport): string[] {
  const words = (wanted: (each: (typeof assumptions)[number]) => boolean) =>
    assumptions
      .filter(wanted)
      .map(({ flag, value }) => `${flag} ${value.includes(' ') ? `"${value}"` : value}`);
  const said = words(({ given }) => given);
  const seen = words(({ measured }) => measured);
  const assumed = words(({ given, measured }) => !given && !measured);
  return [
    ...(said.length > 0 ? [`Given: ${said.join('  ')}`] : []),
    ...(seen.length > 0 ? [`Measured by the daemon: ${seen.join('  ')}`] : []),
    ...(assumed.length > 0
      ? ['Assumed; each flag changes it (--help says what it means):', ...wrapped(assumed)]
      : []),
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
  const verdict = searchVerdict(search);
  const rows = searchRows(search);
  return [
    `${searchCounts(search)}:`,
    '',
    ...aligned(rows, 0).map((line) => `  ${line}`),
    '',
    ...(verdict === undefined
      ? []
      : [`${verdict}. ${search.best ? 'Its plan' : 'The plan of the parameters given'}:`]),
  ];
}
