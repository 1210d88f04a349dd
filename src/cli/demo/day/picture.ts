/** The day as a terminal shows it, and as a line. Pure. */
import { pad, widthOf } from '../../text/cell-width.ts';
import { historyBar, STAGES_IN_WORDS, useBar, workersBar } from '../../fleet/bars.ts';
import { number, money, percent } from '../../text/numbers.ts';
import { coloured, plain, type Span } from '../../text/tones.ts';
import { phases, type Cell, type DayFigures } from './figures.ts';
import { DAY_SECONDS } from './load.ts';

export interface DayFrame {
  readonly columns: number;
  readonly hasColours: boolean;
}

/** One for each part of the day. */
export const DAY_CELLS = 72;
export const CELL_SECONDS = DAY_SECONDS / DAY_CELLS;

const LABEL_WIDTH = 9;
const BAR_CELLS = 24;
const FIGURES_WIDTH = 36;

/** @param decisions The last lines of the endpoint's log. */
export function dayPicture(
  figures: DayFigures,
  decisions: readonly string[],
  { columns, hasColours }: DayFrame,
): string[] {
  const drawn = (spans: readonly Span[]): string => drawnWithin(spans, columns, hasColours);
  return [
    drawn([
      ...plain('A day of an endpoint, in a minute', 'quiet'),
      ...plain(`   ${clock(figures.seconds)}   `),
      ...useBar(figures.seconds / DAY_SECONDS, BAR_CELLS).map(({ text }) => ({
        text,
        tone: 'quiet' as const,
      })),
    ]),
    '',
    ...nowLines(figures).map(drawn),
    '',
    ...dayLines(figures.cells).map(drawn),
    '',
    ...decisions.map((decision) => drawn(plain(decision, 'quiet'))),
  ];
}

/** Of one hour, where there is no terminal. */
export function dayLine(figures: DayFigures): string {
  const { sample, cost, seconds } = figures;
  if (!sample) return clock(seconds);
  const { load, ready, costPerHour } = now(figures);
  const workers = phases(sample);
  return [
    `${clock(seconds)}  load ${number(load)} of ${number(ready)} units/s ready`,
    `${workers.ready} ready, ${workers.starting} starting, ${workers.cold} cold`,
    `${money(costPerHour)} an hour, ${money(cost)} so far`,
  ].join('; ');
}

function nowLines(figures: DayFigures): Span[][] {
  const { sample, cost } = figures;
  if (!sample) return [];
  const { load, ready, costPerHour } = now(figures);
  const workers = phases(sample);
  const use = ready > 0 ? load / ready : 0;
  const inWords = `${workers.ready} ready, ${workers.starting} starting, ${workers.cold} cold`;
  return [
    figure('load', `${number(load)} of ${number(ready)} units/s ready`, [
      ...useBar(use, BAR_CELLS),
      { text: ready > 0 ? ` ${percent(use)}` : '', tone: use > 1 ? 'bad' : 'plain' },
    ]),
    figure('workers', inWords, workersBar(sample.workers, BAR_CELLS)),
    figure('price', `${money(costPerHour)} an hour, ${money(cost)} so far`, plain(STAGES_IN_WORDS, 'quiet')),
  ];
}

/** Load and capacity share their height, so that one can be held against the other. */
function dayLines(cells: readonly Cell[]): Span[][] {
  const most = Math.max(0, ...cells.flatMap(({ load, ready }) => [load, ready]));
  const bar = (values: readonly number[]) => historyBar([...values, most]).slice(0, values.length);
  return [
    [...plain(pad('', LABEL_WIDTH)), ...plain(hours(), 'quiet')],
    [...label('load'), ...plain(bar(cells.map(({ load }) => load)), 'warn')],
    [
      ...label('ready'),
      ...plain(bar(cells.map(({ ready }) => ready)), 'good'),
      ...plain(`  █ ${number(most)}`, 'quiet'),
    ],
    [...label('price'), ...plain(historyBar(cells.map(({ costPerHour }) => costPerHour)))],
  ];
}

/** Each sixth hour above its cell. */
function hours(): string {
  const width = DAY_CELLS / 4;
  return ['00:00', '06:00', '12:00', '18:00'].map((hour) => pad(hour, width)).join('');
}

function figure(name: string, words: string, bar: readonly Span[]): Span[] {
  return [...label(name), ...plain(pad(words, FIGURES_WIDTH)), ...bar];
}

function label(name: string): Span[] {
  return plain(pad(name, LABEL_WIDTH));
}

function now({ sample }: DayFigures): Cell {
  const { load, capacity_hot: ready, cost_per_hour: cost } = sample?.measures ?? {};
  return { load: load ?? 0, ready: ready ?? 0, costPerHour: cost ?? 0 };
}

function clock(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

function drawnWithin(spans: readonly Span[], columns: number, hasColours: boolean): string {
  let left = columns;
  const parts = spans.map(({ text, tone }) => {
    const shown = widthOf(text) <= left ? text : left > 0 ? pad(text, left) : '';
    left -= widthOf(shown);
    return coloured(shown, tone, hasColours);
  });
  return parts.join('').trimEnd();
}
