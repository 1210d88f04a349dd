/** Reads a trace as a stream, CSV or lines of JSON, packed or not: memory does not grow with the file. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputError, parseObject } from '../console.ts';
import {
  chooseColumns,
  parseTime,
  splitFields,
  timeUnitOf,
  type Column,
  type TraceColumns,
  type TraceOptions,
} from './columns.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { isRecord } from '../../contract/is-record.ts';
import type { Arrival, ArrivalStream } from '../../scaling/planner/load.ts';

interface Trace extends TraceOptions {
  readonly name: string;
  readonly columns: TraceColumns;
  readonly names: readonly string[];
  /** Undefined: the record is not an object. */
  readonly fieldsOf: (text: string) => readonly string[] | undefined;
}

/** `-` is standard input. @throws InputError */
export async function openTrace(path: string, options: TraceOptions) {
  const name = path === '-' ? 'standard input' : path;
  const records = readRecords(path, name);
  const { value: begun = [] } = await records.next();
  const [header, ...rest] = begun;
  if (header === undefined) throw new InputError(`${name}: the file is empty`);
  // As UTF-16, in which every other byte is 0.
  if (/[\0\uFFFD]/.test(header.text))
    throw new InputError(`${name}: its first line is no text in UTF-8; save it in that`);
  const json = isJson(header.text);
  const names = json
    ? Object.keys(flatFields(parseObject(header.text)) ?? {})
    : splitFields(header.text).map((field) => field.trim());
  const columns = chooseColumns(name, names, options);
  function fieldsOfJson(text: string): string[] | undefined {
    const fields = flatFields(parseObject(text));
    return fields && names.map((each) => fields[each] ?? '');
  }
  async function* batches() {
    yield json ? begun : rest;
    yield* records;
  }
  const trace = { ...options, name, names, columns, fieldsOf: json ? fieldsOfJson : splitFields };
  return { columns, arrivals: inOrder(trace, requestsOf(trace, batches())) };
}

async function* readRecords(path: string, name: string): AsyncGenerator<readonly TraceRecord[], undefined> {
  try {
    const pieces = textOf(path === '-' ? process.stdin : createReadStream(path));
    for await (const records of recordsOf(pieces)) yield records.flatMap(unrolled);
  } catch (cause) {
    throw new InputError(`${name}: ${(cause as Error).message}`, { cause });
  }
}

/** vLLM's bench (--save-detailed) writes one object of arrays: they become a record for each request. */
function unrolled(record: TraceRecord): readonly TraceRecord[] {
  if (!(isJson(record.text) && record.text.includes('"start_times"'))) return [record];
  const { start_times: times, input_lens: read, output_lens: written } = parseObject(record.text) ?? {};
  if (!(Array.isArray(times) && Array.isArray(read) && Array.isArray(written))) return [record];
  return times.map((time: unknown, index) => {
    const request = {
      start_time_s: time,
      input_len: read[index] as unknown,
      output_len: written[index] as unknown,
    };
    return { line: record.line, text: JSON.stringify(request) };
  });
}

async function* textOf(stream: Readable): AsyncGenerator<string> {
  await once(stream, 'readable');
  const first = stream.read() as Buffer | null;
  if (first === null) return;
  stream.unshift(first);
  const isPacked = first[0] === 0x1f && first[1] === 0x8b;
  // The reader of the text gets the errors.
  const unpacked = isPacked ? pipeline(stream, createGunzip(), () => {}) : stream;
  yield* unpacked.setEncoding('utf8') as AsyncIterable<string>;
}

/** Fields of nested objects get their path: `usage.prompt_tokens`. */
function flatFields(object: Readonly<Record<string, unknown>> | undefined, before = '') {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(object ?? {})) {
    if (isRecord(value)) Object.assign(fields, flatFields(value, `${before}${name}.`));
    else fields[before + name] = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  }
  return object && fields;
}

/** A row may come so many rows too late. */
const HELD_ROWS = 100_000;

/** A run with more work does not end. */
const MOST_WORK = 1e15;
/** As long as a daemon keeps its history: one odd time would make a plan of decades. */
const MOST_DAYS = 400;

interface Request {
  /** Seconds since some epoch. */
  readonly at: number;
  readonly work: number;
  readonly line: number;
  readonly time: string;
}

/** In order of time, the first at 0: logs are often in order of the end. @throws InputError */
async function* inOrder(trace: Trace, batches: AsyncIterable<readonly Request[]>): ArrivalStream {
  const column = trace.columns.time;
  const refused = ({ line, time: field }: Request, allowed: string) =>
    wrongField(trace, line, { ...column, field }, allowed);
  let held: Request[] = [];
  let start: number | undefined;
  let last = -Infinity;
  function taken(count: number): Arrival[] {
    held.sort((a, b) => a.at - b.at);
    const [first] = held;
    if (first && first.at < last) {
      const rows = HELD_ROWS.toLocaleString('en');
      throw refused(first, `a row at most ${rows} rows out of order; sort the file by ${column.name}`);
    }
    const requests = held.slice(0, count);
    held = held.slice(count);
    last = requests.at(-1)?.at ?? last;
    start ??= first?.at;
    return requests.map((request) => {
      const atSeconds = request.at - (start ?? 0);
      if (atSeconds <= MOST_DAYS * DAY_SECONDS) return { atSeconds, work: request.work };
      throw refused(
        request,
        `a time at most ${MOST_DAYS} days after the first one, and this is ${Math.ceil(atSeconds / DAY_SECONDS)} days ` +
          'after it; is one of them in seconds and the other in milliseconds, or a 0 where there is no time?',
      );
    });
  }
  for await (const batch of batches) {
    held.push(...batch);
    if (held.length >= 2 * HELD_ROWS) yield taken(HELD_ROWS);
  }
  yield taken(held.length);
}

/** @throws InputError that names line, column, value and what is allowed */
async function* requestsOf(trace: Trace, batches: AsyncIterable<readonly TraceRecord[]>) {
  const { name, names, columns, timeZone } = trace;
  const { time } = columns;
  let unit = trace.timeUnit;
  for await (const records of batches) {
    const rows = records
      .filter(({ text }) => text.trim() !== '')
      .map((record) => ({ line: record.line, fields: fieldsOf(trace, record) }));
    if (rows.length === 0) continue;
    const times = rows.map(({ fields }) => fields[time.index] as string);
    const known = (unit ??= timeUnitOf(time.name, names, times));
    if (known === undefined)
      throw new InputError(
        `${name}: are the times in column ${time.name} seconds or milliseconds? Say --time-unit s or --time-unit ms`,
      );
    yield rows.map(({ line, fields }): Request => {
      const text = fields[time.index] as string;
      const at = parseTime(text, known, timeZone);
      if (!Number.isNaN(at)) return { at, work: workOf(trace, line, fields), line, time: text };
      const allowed = `a number (of ${known}; --time-unit says otherwise) or a date such as 2023-11-16 18:15:46.68`;
      throw wrongField(trace, line, { ...time, field: text }, allowed);
    });
  }
}

function fieldsOf(trace: Trace, { line, text }: TraceRecord): readonly string[] {
  const count = trace.names.length;
  const fields = trace.fieldsOf(text);
  if (!fields) throw wrong(trace, line, 'is not an object in JSON');
  if (fields.length === count) return fields;
  const got = `${fields.length} fields, where the first line has ${count}`;
  throw wrong(trace, line, `${got}; quote fields that hold commas`);
}

function workOf(trace: Trace, line: number, fields: readonly string[]): number {
  let sum = trace.columns.base;
  for (const column of trace.columns.work) {
    const field = fields[column.index] as string;
    const value = field.trim() === '' ? Number.NaN : Number(field);
    if (!(value >= 0 && value < Infinity))
      throw wrongField(trace, line, { ...column, field }, 'a number of at least 0');
    sum += column.weight * value;
  }
  if (sum <= MOST_WORK) return sum;
  throw wrong(trace, line, `a request of ${sum} units of work; allowed: at most ${MOST_WORK}`);
}

function wrongField(
  trace: Trace,
  line: number,
  { name, index, field }: Column & { readonly field: string },
  allowed: string,
) {
  const got = field.length > 60 ? `${JSON.stringify(field.slice(0, 60))}…` : JSON.stringify(field);
  return wrong(trace, line, `column ${index + 1} (${name}): got ${got}; allowed: ${allowed}`);
}

function wrong({ name }: Trace, line: number, what: string): InputError {
  return new InputError(`${name}, line ${line}: ${what}`);
}

interface TraceRecord {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** Far more than a request needs; vLLM's bench has a whole run in one line. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

/** RFC 4180, or lines of JSON. @throws Error that names the line where a record begins that is too long */
async function* recordsOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly TraceRecord[]> {
  let tail = '';
  /** A quoted field that goes on in the next line. */
  let open = undefined as TraceRecord | undefined;
  let count = 0;
  let isLinesOfJson: boolean | undefined;

  function take(line: string): TraceRecord | undefined {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    count += 1;
    isLinesOfJson ??= isJson(text);
    const record = open ? { ...open, text: `${open.text}\n${text}` } : { line: count, text };
    // An odd number of quotes closes the field.
    const isEnded = isLinesOfJson || isWhole(text) === (open === undefined);
    open = isEnded ? undefined : record;
    if (isEnded) return record;
    if (record.text.length > MOST_CHARACTERS) throw tooLong(record.line);
    return undefined;
  }

  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n');
    // Joined at the end of a line only: a long one would be copied with each piece.
    tail += first;
    const lines = others.length === 0 ? [] : [tail, ...others.slice(0, -1)];
    tail = others.at(-1) ?? tail;
    const records = lines.flatMap((line) => take(line) ?? []);
    if (tail.length > MOST_CHARACTERS) throw tooLong(open?.line ?? count + 1);
    if (records.length > 0) yield records;
  }
  const last = tail === '' ? undefined : take(tail);
  if (open)
    throw new Error(
      `line ${open.line}: a quote opens here that nothing closes; write a quote inside a field twice`,
    );
  if (last) yield [last];
}

function tooLong(line: number): Error {
  const most = MOST_CHARACTERS.toLocaleString('en');
  return new Error(`line ${line}: longer than ${most} characters; is it a CSV, and is every quote closed?`);
}

function isJson(line: string): boolean {
  return /^\s*\{/.test(line);
}

/** Quotes come in pairs, unless a field goes on in the next line. */
function isWhole(text: string): boolean {
  let whole = true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) whole = !whole;
  return whole;
}
