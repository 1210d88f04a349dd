/** An advice as lines of text. Pure. */
import type { SetPrediction } from '../../scaling/advice/advice.ts';
import type { AdviceReport } from '../../scaling/advice/report.ts';
import { ADVISED_PARAMETERS } from '../../scaling/advice/advice.ts';
import { money, number, percent, seconds } from '../text/numbers.ts';
import { legibleLine } from '../text/legible.ts';
import { wrapped } from '../text/wrapped.ts';

const DEFAULT_COLUMNS = 100;
const HOURS_A_DAY = 24;

export function adviceLines(report: AdviceReport, columns = DEFAULT_COLUMNS): string[] {
  const { endpoint, sentence, today, best, backtest } = report;
  return [
    ...wrapped(legibleLine(`${endpoint}: ${sentence}`), columns),
    '',
    ...table([['', 'today', ...(isOther(today, best) ? ['advised'] : [])], ...setRows(today, best)]),
    ...(today ? [''] : []),
    ...wrapped(goneBy(report), columns),
    ...(backtest
      ? wrapped(
          `Backtest: hot workers ${signed(backtest.errors.hot)}, worker hours ${signed(backtest.errors.workers)}, ` +
            `cost ${signed(backtest.errors.cost)} against what was recorded, over ${seconds(comparedSeconds(backtest))}.`,
          columns,
        )
      : []),
    ...report.assumptions.flatMap(({ name, value, from }) =>
      wrapped(`  ${name}: ${value} (${from})`, columns, '    '),
    ),
    '',
  ].filter((line, index, all) => line !== '' || all[index - 1] !== '');
}

function isOther(today: SetPrediction | undefined, best: SetPrediction | undefined): boolean {
  return ADVISED_PARAMETERS.some((name) => today?.parameters[name] !== best?.parameters[name]);
}

function setRows(today: SetPrediction | undefined, best: SetPrediction | undefined): string[][] {
  if (!today || !best) return [];
  const sets = isOther(today, best) ? [today, best] : [today];
  const row = (name: string, of: (set: SetPrediction) => string) => [name, ...sets.map((set) => of(set))];
  return [
    ...ADVISED_PARAMETERS.map((name) => row(name, ({ parameters }) => number(parameters[name]))),
    row('cost a day', ({ costPerHour }) => money(costPerHour.mean * HOURS_A_DAY)),
    row('p99 wait, as modelled', ({ p99Seconds }) => seconds(p99Seconds.mean)),
    row('hot workers, mean', ({ meanHotWorkers }) => number(meanHotWorkers)),
    row('hot workers, at most', ({ peakHotWorkers }) => number(peakHotWorkers)),
  ];
}

function table(rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 1) return [];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart((widths[column] ?? 0) + 2),
      )
      .join('')
      .trimEnd(),
  );
}

/** How much of which time it goes by, in words; nothing where there was none. */
export function goneBy({ fromMs, toMs, load }: AdviceReport): string {
  if (load.seenSeconds === 0) return '';
  const time = (ms: number) => new Date(ms).toISOString().slice(0, 16);
  const { holes } = load;
  const left =
    holes.length === 0
      ? ''
      : `; ${holes.length === 1 ? 'a hole' : `${holes.length} holes`} of ` +
        `${seconds(holes.reduce((sum, hole) => sum + hole.toMs - hole.fromMs, 0) / 1000)} in it left out`;
  return (
    `By ${seconds(load.seenSeconds)} of its load, ${time(fromMs)}Z to ${time(toMs)}Z${left}: ` +
    `${number(load.meanRate)} units/s in the mean, ${number(load.peakRate)} at the most.`
  );
}

function comparedSeconds({ hours }: NonNullable<AdviceReport['backtest']>): number {
  return hours.reduce((sum, hour) => sum + hour.seconds, 0);
}

function signed(share: number): string {
  return `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`;
}
