/** Which columns of a trace are time and work, and how times are written. Pure. */
import { InputError } from '../console.ts';

export interface Column {
  readonly name: string;
  readonly index: number;
}

export interface TraceColumns {
  readonly time: Column;
  /** Work of a request = base + the sum of weight × column. */
  readonly work: readonly (Column & { readonly weight: number })[];
  readonly base: number;
  readonly guessed: boolean;
}

export interface TraceOptions {
  readonly timeColumn?: string;
  /** Default: by the column's name or its first value. */
  readonly timeUnit?: TimeUnit;
  /** Of dates without one. Default: UTC. */
  readonly timeZone?: ZoneOffset;
  /** Column → units of work for each unit of its number. */
  readonly weight?: ReadonlyMap<string, number>;
  /** Units of every request, beside those of its columns. */
  readonly requestWork?: number;
}

const TIME_NAMES =
  /^(time(stamp)?|ts|at|date(time)?|arriv\w*|start\w*|(request_)?created(_?at)?)(_?(s|ms|us|ns|seconds))?$/i;
const WORK_NAMES = /^(work|load|units)$/i;
/** A token read costs less than a token written, as a prompt is worked on all at once. A tenth is a guess. */
const TOKEN_WEIGHTS = [
  [/generated|output|completion|decode|response/i, 1],
  [/context|prompt|input|prefill|request/i, 0.1],
] as const;
/** Parts of a count beside it, and limits: usage.prompt_tokens_details.cached_tokens, max_tokens. */
const NO_COUNT = /detail|cache|total|max|limit/i;

/** @throws InputError for columns that do not exist, or cannot be guessed */
export function chooseColumns(
  file: string,
  header: readonly string[],
  { timeColumn, weight: weights = new Map(), requestWork }: TraceOptions,
): TraceColumns {
  const refused = (problem: string) => new InputError(`${file}: ${problem}; ${knownColumns(columns)}`);
  const columns = header.map((name, index): Column => ({ name: name.trim(), index }));
  const named = (name: string, purpose = ''): Column => {
    const column = columns.find((each) => each.name === name);
    if (!column) throw refused(`no column ${name}${purpose}`);
    return column;
  };
  const time =
    timeColumn === undefined ? columns.find(({ name }) => TIME_NAMES.test(name)) : named(timeColumn);
  if (!time) throw refused('which column is the time? Say --time-column NAME');
  const chosen = { time, base: requestWork ?? 0 };
  if (weights.size > 0 || requestWork !== undefined) {
    const work = Array.from(weights, ([name, weight]) => ({ ...named(name, ' to weigh'), weight }));
    return { ...chosen, work, guessed: false };
  }
  const work = guessedWork(columns.filter((column) => column !== time));
  if (work.length > 0) return { ...chosen, work, guessed: true };
  throw refused(
    'how much work is a request? Say --weight COLUMN=UNITS, or --request-work UNITS for all alike',
  );
}

function knownColumns(columns: readonly Column[]): string {
  const all = columns.map(({ name }) => name).join(', ');
  // A file that is not CSV may have everything in its first line.
  const names = all.length > 200 ? `${all.slice(0, 200)}…` : all;
  if (/^\s*[[{]/.test(names) || names === '')
    return 'JSON must have one object a line (jq -c ".[]" makes that)';
  if (columns.length > 1) return `the columns are ${names}`;
  const other = /[;\t|]/.test(names) ? '; columns are separated by commas only' : '';
  return `the only column is ${names}${other}`;
}

/** Work, else tokens read and written, each once: a gateway may repeat them deeper in its row. */
function guessedWork(columns: readonly Column[]): TraceColumns['work'] {
  const work = columns.flatMap(({ name, index }) =>
    WORK_NAMES.test(name) ? [{ name, index, weight: 1 }] : [],
  );
  if (work.length > 0) return work;
  // A column of prompts is not a count.
  const counts = columns.filter(({ name }) => /tok|len/i.test(name) && !NO_COUNT.test(name));
  const rank = ({ name }: Column) => 2 * name.split('.').length - (/tok/i.test(name) ? 1 : 0);
  const kindOf = (name: string) => TOKEN_WEIGHTS.find(([names]) => names.test(name))?.[0];
  return TOKEN_WEIGHTS.flatMap(([names, weight]) => {
    const [best] = counts
      .filter(({ name }) => kindOf(name) === names)
      .toSorted((one, other) => rank(one) - rank(other));
    return best ? [{ ...best, weight }] : [];
  }).toSorted((one, other) => one.index - other.index);
}

/** Fields of a record; quoted ones may hold commas, line breaks and doubled quotes. */
export function splitFields(line: string): string[] {
  if (!line.includes('"')) return line.split(',');
  const fields: string[] = [];
  const field = /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)/y;
  while (field.lastIndex < line.length) {
    const match = field.exec(line);
    if (!match) break;
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
  }
  if (line.endsWith(',')) fields.push('');
  return fields;
}

/** Times are numbers in a unit that is given, or dates as ISO 8601 writes them. */
export const TIME_UNITS = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 } as const;
type TimeUnit = keyof typeof TIME_UNITS;

const UNIT_IN_NAME = /_(?:(s)(?:ec(?:onds)?)?|(ms|us|ns))$/i;
/** Epoch times from 1973 on, in the unit; a smaller unit would mean soon after 1970. */
const EPOCH_FROM = [
  [1e17, 'ns'],
  [1e14, 'us'],
  [1e11, 'ms'],
  [1e8, 's'],
] as const;

/** Public traces that do not tell their unit. */
const KNOWN_TRACES: readonly (readonly [columns: readonly string[], unit: TimeUnit])[] = [
  // https://github.com/kvcache-ai/Mooncake
  [['timestamp', 'input_length', 'output_length', 'hash_ids'], 'ms'],
  // https://github.com/HPMLL/BurstGPT
  [['Timestamp', 'Request tokens', 'Response tokens'], 's'],
];

/** By the column's name, the known trace, or the values. Undefined: seconds or milliseconds. */
export function timeUnitOf(column: string, header: readonly string[], values: readonly string[]) {
  const [, second, other] = UNIT_IN_NAME.exec(column) ?? [];
  const named = (second ?? other)?.toLowerCase();
  if (named !== undefined) return named as TimeUnit;
  const known = KNOWN_TRACES.find(([columns]) => columns.every((name) => header.includes(name)));
  if (known) return known[1];
  const epoch = EPOCH_FROM.find(([from]) => Number(values[0]) >= from)?.[1];
  if (epoch !== undefined) return epoch;
  return values.every((value) => /^\s*\d+\s*$/.test(value)) ? undefined : 's';
}

/** `2023-11-16 18:15:46.6805900`, also with T, and with an offset: Z, +02:00, PostgreSQL's +02. */
const DATE =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?\s*(?:(Z|UTC)|([+-])(0\d|1[0-5])(?::?([0-5]\d))?)?$/;

/** Seconds ahead of UTC at a local time. When clocks go back it is one of two. */
export type ZoneOffset = (localSeconds: number) => number;
const UTC: ZoneOffset = () => 0;
const QUARTER_SECONDS = 900;

/** @param zone such as Europe/Berlin or +02:00. @throws RangeError for an unknown one */
export function zoneOffset(zone: string): ZoneOffset {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  const offsetAt = (seconds: number): number => {
    const name = format.formatToParts(seconds * 1000).find(({ type }) => type === 'timeZoneName')?.value;
    const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name ?? '') ?? [];
    return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 * (sign === '-' ? -1 : 1);
  };
  // Rows are almost in order: the last answer is mostly the next.
  let last = { quarter: Number.NaN, offset: 0 };
  return (local) => {
    const quarter = Math.floor(local / QUARTER_SECONDS);
    if (last.quarter !== quarter) last = { quarter, offset: offsetAt(local - offsetAt(local)) };
    return last.offset;
  };
}

/** Seconds since some epoch; NaN if it is not a time. */
export function parseTime(text: string, unit: TimeUnit, offsetOf: ZoneOffset = UTC): number {
  const trimmed = text.trim();
  const number = trimmed === '' ? Number.NaN : Number(trimmed);
  if (Number.isFinite(number)) return number * TIME_UNITS[unit];
  const date = DATE.exec(trimmed);
  if (!date) return Number.NaN;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = date.slice(1, 7).map(Number);
  const [, , , , , , , fraction = '', utc, sign, offsetHours = '0', offsetMinutes = '0'] = date;
  const minutes = Date.UTC(year, month - 1, day, hour, minute);
  // Date.UTC reads 31 February as a day in March, which is written otherwise.
  const written = new Date(minutes).toISOString().slice(0, 16);
  if (written !== trimmed.slice(0, 16).replace(' ', 'T') || second > 60) return Number.NaN;
  const whole = minutes + 1000 * second;
  const given = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60 * (sign === '-' ? -1 : 1);
  const offset = (utc ?? sign) === undefined ? offsetOf(whole / 1000) : given;
  return whole / 1000 + Number(`0.${fraction}0`) - offset;
}
