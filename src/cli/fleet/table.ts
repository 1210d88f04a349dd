/** The endpoints as a table with small bars that fits a terminal, and below it what needs a person. Pure. */
import type { FleetHistory } from '../../daemon/http/fleet/answer.ts';
import type { EndpointStatus, FleetStatus } from '../../daemon/status/schema.ts';
import { pad, widthOf } from '../text/cell-width.ts';
import { legibleLine } from '../text/legible.ts';
import { money, percent } from '../text/numbers.ts';
import { coloured, plain, type Span, type Tone } from '../text/tones.ts';
import { historyBar, meansOver, STAGES_IN_WORDS, useBar, workersBar } from './bars.ts';
import { age, fleetNotes, notesOf, numberOr, workersInWords } from './words.ts';

export interface Seen {
  readonly fleet: FleetStatus;
  /** What to say where there is no endpoint. */
  readonly none: string;
  /** Of the last hour; undefined while it is not known. */
  readonly history: FleetHistory | undefined;
  /** The daemon's clock, Unix seconds. */
  readonly now: number;
}

export interface Frame {
  readonly columns: number;
  readonly hasColours: boolean;
}

interface Column {
  readonly title: string;
  /** The least important goes first where there is no room. */
  readonly rank: number;
  readonly cell: (endpoint: EndpointStatus, seen: Seen) => readonly Span[];
}

const GAP = '  ';
const USE_CELLS = 12;
const WORKER_CELLS = 16;
const HISTORY_CELLS = 20;
const WIDEST_NAME = 32;
const LEAST_NAME = 8;

const NAME: Column = { title: 'ENDPOINT', rank: 0, cell: (endpoint) => plain(endpoint.endpoint_group) };
const COLUMNS: readonly Column[] = [
  NAME,
  { title: 'STATE', rank: 8, cell: ({ state }) => plain(state ?? '?') },
  {
    title: 'LOAD / READY',
    rank: 1,
    cell: ({ load, capacity_hot }) => plain(`${numberOr(load)} / ${numberOr(capacity_hot)}`),
  },
  { title: 'USE', rank: 3, cell: ({ load, capacity_hot }) => use(load, capacity_hot) },
  {
    title: 'WORKERS',
    rank: 4,
    cell: ({ workers }) => (workers === null ? plain('?') : workersBar(workers, WORKER_CELLS)),
  },
  {
    title: '',
    rank: 7,
    cell: ({ workers }) => plain(workers === null ? '' : workersInWords(workers), 'quiet'),
  },
  {
    title: 'SPEND/H',
    rank: 2,
    cell: ({ spend_per_hour: spend }) => plain(spend === null ? '?' : money(spend)),
  },
  { title: 'REQS', rank: 9, cell: ({ requests_working }) => plain(numberOr(requests_working)) },
  { title: 'LOAD, LAST HOUR', rank: 5, cell: (endpoint, seen) => plain(lastHour(endpoint, seen)) },
  {
    title: 'SEEN',
    rank: 6,
    cell: ({ last_sample_at: at }, { now }) => plain(at === null ? 'never' : age(now - at)),
  },
];

export function fleetTable(seen: Seen, frame: Frame): string[] {
  const { fleet, now } = seen;
  const rows = fleet.endpoints.map((endpoint) =>
    COLUMNS.map((column) =>
      column.cell(endpoint, seen).map(({ text, tone }) => ({ text: legibleLine(text), tone })),
    ),
  );
  const widths = fitted(rows, frame.columns);
  const line = (cells: readonly (readonly Span[])[]): string =>
    COLUMNS.flatMap((_, index) => {
      const width = widths[index];
      return width === undefined ? [] : [drawn(cells[index] ?? [], width, frame)];
    })
      .join(GAP)
      .trimEnd();
  const notes = [
    ...fleet.endpoints.flatMap((endpoint) =>
      notesOf(endpoint, fleet, now).map((note) => `${endpoint.endpoint_group}: ${note}`),
    ),
    ...fleetNotes(fleet),
  ];
  const hasBars = widths[COLUMNS.findIndex(({ title }) => title === 'WORKERS')] !== undefined;
  const below = (text: string, tone: Tone): string =>
    drawn(plain(legibleLine(text), tone), Math.min(frame.columns, widthOf(legibleLine(text))), frame);
  return [
    line(COLUMNS.map(({ title }) => plain(title, 'quiet'))),
    ...rows.map(line),
    ...(hasBars && rows.length > 0 ? [below(STAGES_IN_WORDS, 'quiet')] : []),
    ...notes.map((note) => below(note, 'warn')),
  ];
}

/** By column; undefined: it has no room. */
function fitted(rows: readonly (readonly (readonly Span[])[])[], columns: number): (number | undefined)[] {
  const widths: (number | undefined)[] = COLUMNS.map(({ title }, index) =>
    Math.max(widthOf(title), ...rows.map((cells) => widthOfAll(cells[index] ?? []))),
  );
  widths[0] = Math.min(WIDEST_NAME, widths[0] ?? 0);
  const byRank = COLUMNS.map(({ rank }, index) => ({ rank, index })).sort((a, b) => b.rank - a.rank);
  const total = (): number => {
    const there = widths.filter((width) => width !== undefined);
    return there.reduce((sum, width) => sum + width, 0) + GAP.length * (there.length - 1);
  };
  for (const { index, rank } of byRank) {
    const over = total() - columns;
    if (over <= 0) break;
    const name = widths[0] ?? 0;
    // A long name gives way before anything else goes, down to what still tells it from others.
    if (rank === 0 || name - over >= LEAST_NAME) {
      widths[0] = Math.max(1, name - over);
      break;
    }
    widths[index] = undefined;
  }
  return widths;
}

function widthOfAll(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + widthOf(text), 0);
}

function drawn(spans: readonly Span[], width: number, { hasColours }: Frame): string {
  const only = spans.length === 1 ? spans[0] : undefined;
  if (only) return coloured(pad(only.text, width), only.tone, hasColours);
  const fill = ' '.repeat(Math.max(0, width - widthOfAll(spans)));
  return spans.map(({ text, tone }) => coloured(text, tone, hasColours)).join('') + fill;
}

function use(load: number | null, ready: number | null): Span[] {
  if (load === null || ready === null) return plain('?');
  if (ready === 0) return load > 0 ? plain('none ready', 'bad') : plain('no load', 'quiet');
  const share = load / ready;
  return [...useBar(share, USE_CELLS), { text: ` ${percent(share)}`, tone: share > 1 ? 'bad' : 'plain' }];
}

function lastHour({ endpoint_group: name }: EndpointStatus, { history }: Seen): string {
  const rows = history?.endpoints.find(({ endpoint_group }) => endpoint_group === name)?.rows;
  if (!history || !rows) return '';
  return historyBar(meansOver(rows, history.from, history.to, HISTORY_CELLS));
}
