/** Reads a trace of requests as a stream, CSV or lines of JSON, packed with gzip or not: memory does not grow with the file. */
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isRecord } from '../../../contract/is-record.ts';
import { InputError } from '../../command-error.ts';
import type { Arrival, ArrivalStream } from '../../../scaling/planner/load/load.ts';
import {
  chooseColumns,
  parseTime,
  splitFields,
  timeUnitOf,
  type Column,
  type TimeUnit,
  type TraceColumns,
  type TraceOptions,
  type ZoneOffset,
} from './columns.ts';
import { isJson, recordsOf, type TraceRecord } from './records.ts';

/**
 * Opens the file (`-` is standard input) and reads its first line.
 * @throws InputError that says what is wrong
 */
export async function openTrace(path: string, options: TraceOptions) {
  const name = path === '-' ? 'standard input' : path;
  const records = readRecords(path, name);
  const first = await records.next();
  const [header, ...rest] = first.done ? [] : first.value;
  if (header === undefined) throw new InputError(`${name}: the file is empty`);
  // As of UTF-16, whose every other byte is 0.
  if (/[\0\uFFFD]/.test(header.text))
    throw new InputError(`${name}: its first line is no text in UTF-8; save it in that`);
  const json = isJson(header.text);
  const names = json
    ? Object.keys(flatFields(header.text) ?? {})
    : splitFields(header.text).map((field) => field.trim());
  const columns = chooseColumns(name, names, options);
  const fieldsOf = json
    ? (text: string) => {
        const fields = flatFields(text);
        return fields && names.map((each) => fields[each] ?? '');
      }
    : splitFields;
  const reader = new RequestReader({
    name,
    columns,
    names,
    fieldsOf,
    unit: options.timeUnit,
    zone: options.timeZone,
  });
  const begun = json ? [header, ...rest] : rest;
  async function* requests() {
    yield reader.readAll(begun);
    for await (const more of records) yield reader.readAll(more);
  }
  return { columns, arrivals: inOrder(requests(), reader) };
}

async function* readRecords(path: string, name: string): AsyncGenerator<readonly TraceRecord[]> {
  try {
    const pieces = textOf(path === '-' ? process.stdin : createReadStream(path));
    for await (const records of recordsOf(pieces)) yield records.flatMap(unrolled);
  } catch (cause) {
    throw new InputError(`${name}: ${(cause as Error).message}`, { cause });
  }
}

/** vLLM's bench (--save-detailed) writes one object with an array for each column: a record for each of its requests. */
function unrolled(record: TraceRecord): readonly TraceRecord[] {
  if (!(isJson(record.text) && record.text.includes('"start_times"'))) return [record];
  const { start_times: times, input_lens: read, output_lens: written } = parsed(record.text) ?? {};
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

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Text in UTF-8, unpacked if it begins as gzip does. */
async function* textOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const chunks = stream[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  async function* whole() {
    yield first.value;
    for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) yield chunk;
  }
  const isPacked = first.value[0] === 0x1f && first.value[1] === 0x8b;
  const bytes = Readable.from(whole(), { objectMode: false });
  // Who reads the text hears of errors.
  const unpacked = isPacked ? pipeline(bytes, createGunzip(), () => {}) : bytes;
  // A mark of its byte order is not handed on.
  const decoder = new TextDecoder();
  for await (const chunk of unpacked as AsyncIterable<Buffer>) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** The numbers and texts of an object, those of objects in it by their path: `usage.prompt_tokens`. */
function flatFields(line: string): Readonly<Record<string, string>> | undefined {
  const fields = parsed(line);
  return fields && Object.fromEntries(flattened(fields, ''));
}

function flattened(fields: Readonly<Record<string, unknown>>, before: string): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    if (isRecord(value)) return flattened(value, `${before}${name}.`);
    return [[before + name, typeof value === 'number' || typeof value === 'string' ? String(value) : '']];
  });
}

/** Rows that may stand before one that came earlier. */
const HELD_ROWS = 100_000;

/**
 * Requests in order of time, the first at 0. Logs are often in the order in which requests ended.
 * @throws InputError for a row that is further out of order than is held
 */
async function* inOrder(batches: AsyncIterable<readonly Request[]>, reader: RequestReader): ArrivalStream {
  let held: Request[] = [];
  let start: number | undefined;
  let last = -Infinity;
  const taken = (count: number): Arrival[] => {
    held.sort((a, b) => a.at - b.at);
    const [first] = held;
    if (first && first.at < last) throw reader.outOfOrder(first);
    const requests = held.slice(0, count);
    held = held.slice(count);
    last = requests.at(-1)?.at ?? last;
    start ??= first?.at;
    return requests.map((request) => reader.arrival(request, start ?? 0));
  };
  for await (const batch of batches) {
    held.push(...batch);
    if (held.length >= 2 * HELD_ROWS) yield taken(HELD_ROWS);
  }
  yield taken(held.length);
}

/** Years of every worker there is: a run that reckons with more does not end. */
const MOST_WORK = 1e15;
const DAY_SECONDS = 86_400;
/** As long as a daemon keeps its history. One odd time may be decades away, and a plan reckons with all the time between. */
const MOST_DAYS = 400;

interface Request {
  /** Seconds from some epoch on. */
  readonly at: number;
  readonly work: number;
  readonly line: number;
  /** As it was written. */
  readonly time: string;
}

interface Format {
  /** Of the file. */
  readonly name: string;
  readonly columns: TraceColumns;
  /** Of all columns. */
  readonly names: readonly string[];
  /** A field for each column; undefined for a record that is none. */
  readonly fieldsOf: (text: string) => readonly string[] | undefined;
  /** Undefined: what the column's name, the trace or its values say. */
  readonly unit: TimeUnit | undefined;
  readonly zone: ZoneOffset | undefined;
}

/** Records in, requests out. */
class RequestReader {
  readonly #format: Format;
  #unit: TimeUnit | undefined;

  constructor(format: Format) {
    this.#format = format;
    this.#unit = format.unit;
  }

  /** @throws InputError that names line and column, what it holds, and what is allowed */
  readAll(records: readonly TraceRecord[]): Request[] {
    const rows = records
      .filter(({ text }) => text.trim() !== '')
      .map(({ line, text }) => ({ line, fields: this.#fieldsOf(line, text) }));
    if (rows.length === 0) return [];
    const { name, columns, names } = this.#format;
    const { time } = columns;
    this.#unit ??= timeUnitOf(
      time.name,
      names,
      rows.map(({ fields }) => fields[time.index] ?? ''),
    );
    if (this.#unit === undefined)
      throw new InputError(
        `${name}: are the times in column ${time.name} seconds or milliseconds? Say --time-unit s or --time-unit ms`,
      );
    return rows.map(({ line, fields }) => this.#read(line, fields));
  }

  /** @throws InputError for one that comes long after the first */
  arrival(request: Request, start: number): Arrival {
    const { at, work } = request;
    const atSeconds = at - start;
    if (atSeconds <= MOST_DAYS * DAY_SECONDS) return { atSeconds, work };
    throw this.#wrongTime(
      request,
      `a time at most ${MOST_DAYS} days after the first one, and this is ${Math.ceil(atSeconds / DAY_SECONDS)} days ` +
        'after it; is one of them in seconds and the other in milliseconds, or a 0 where there is no time?',
    );
  }

  outOfOrder(request: Request): InputError {
    const { name } = this.#format.columns.time;
    const rows = HELD_ROWS.toLocaleString('en');
    return this.#wrongTime(request, `a row at most ${rows} rows out of order; sort the file by ${name}`);
  }

  #fieldsOf(line: number, text: string): readonly string[] {
    const { count } = this.#format.columns;
    const fields = this.#format.fieldsOf(text);
    if (!fields) throw this.#wrong(line, 'is not an object in JSON');
    if (fields.length === count) return fields;
    throw this.#wrong(
      line,
      `${fields.length} fields, where the first line has ${count}; quote fields that hold commas`,
    );
  }

  #read(line: number, fields: readonly string[]): Request {
    const { time, work, base } = this.#format.columns;
    const text = fields[time.index] ?? '';
    const at = parseTime(text, this.#unit ?? 's', this.#format.zone);
    const request = { at, work: base, line, time: text };
    if (Number.isNaN(at)) {
      const allowed = `a number (of ${this.#unit}; --time-unit says otherwise) or a date such as 2023-11-16 18:15:46.68`;
      throw this.#wrongTime(request, allowed);
    }
    for (const column of work) {
      const field = fields[column.index] ?? '';
      const value = field.trim() === '' ? Number.NaN : Number(field);
      if (!(value >= 0 && value < Infinity)) {
        throw this.#wrongField(line, column, field, 'a number of at least 0');
      }
      request.work += column.weight * value;
    }
    if (request.work > MOST_WORK)
      throw this.#wrong(line, `a request of ${request.work} units of work; allowed: at most ${MOST_WORK}`);
    return request;
  }

  #wrongTime({ line, time }: Request, allowed: string): InputError {
    return this.#wrongField(line, this.#format.columns.time, time, allowed);
  }

  #wrongField(line: number, { name, index }: Column, field: string, allowed: string): InputError {
    const got = field.length > 60 ? `${JSON.stringify(field.slice(0, 60))}…` : JSON.stringify(field);
    return this.#wrong(line, `column ${index + 1} (${name}): got ${got}; allowed: ${allowed}`);
  }

  #wrong(line: number, what: string): InputError {
    return new InputError(`${this.#format.name}, line ${line}: ${what}`);
  }
}
