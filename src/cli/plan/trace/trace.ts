/** Reads a trace of requests from a CSV file as a stream: memory does not grow with the file. */
import { createReadStream } from 'node:fs';
import { InputError } from '../../input-error.ts';
import type { Arrival, ArrivalStream } from '../../../scaling/planner/load/load.ts';
import {
  chooseColumns,
  parseTime,
  splitFields,
  timeUnitOf,
  type Column,
  type TimeUnit,
  type TraceColumns,
} from './columns.ts';
import { recordsOf, type CsvRecord } from './records.ts';

export interface TraceOptions {
  readonly timeColumn?: string | undefined;
  /** Undefined: what the column's name or its first value says. */
  readonly timeUnit?: TimeUnit | undefined;
  /** Column → units of work for each unit of its number. */
  readonly weights: ReadonlyMap<string, number>;
  /** Units of every request, on top of its columns. */
  readonly requestWork: number | undefined;
}

export interface Trace {
  readonly columns: TraceColumns;
  readonly arrivals: ArrivalStream;
}

/**
 * Opens the file (`-` is standard input) and reads its first line.
 * @throws InputError that says what is wrong
 */
export async function openTrace(path: string, options: TraceOptions): Promise<Trace> {
  const name = path === '-' ? 'standard input' : path;
  const records = readRecords(path, name);
  const first = await records.next();
  const [header, ...rest] = first.done ? [] : first.value;
  if (header === undefined) throw new InputError(`${name}: the file is empty`);
  // As of UTF-16, whose every other byte is 0.
  if (/[\0\uFFFD]/.test(header.text))
    throw new InputError(`${name}: its first line is no text in UTF-8; save it in that`);
  const chosen = chooseColumns(splitFields(header.text.replace(/^\uFEFF/, '')), options);
  if (!chosen.ok) throw new InputError(`${name}: ${chosen.problem}`);
  const { columns } = chosen;
  const reader = new RequestReader(name, columns, options.timeUnit);
  async function* arrivals() {
    yield reader.readAll(rest);
    for await (const more of records) yield reader.readAll(more);
  }
  return { columns, arrivals: arrivals() };
}

async function* readRecords(path: string, name: string): AsyncGenerator<readonly CsvRecord[]> {
  const stream = path === '-' ? process.stdin.setEncoding('utf8') : createReadStream(path, 'utf8');
  try {
    yield* recordsOf(stream as AsyncIterable<string>);
  } catch (cause) {
    throw new InputError(`${name}: ${(cause as Error).message}`, { cause });
  }
}

/** Years of every worker there is: a run that reckons with more does not end. */
const MOST_WORK = 1e15;
const DAY_SECONDS = 86_400;
/** As long as a daemon keeps its history. One odd time may be decades away, and a plan reckons with all the time between. */
const MOST_DAYS = 400;

/** Records in, requests out; times count from the first. */
class RequestReader {
  readonly #name: string;
  readonly #columns: TraceColumns;
  #unit: TimeUnit | undefined;
  #start = Number.NaN;
  #last = 0;

  constructor(name: string, columns: TraceColumns, unit: TimeUnit | undefined) {
    this.#name = name;
    this.#columns = columns;
    this.#unit = unit;
  }

  /** @throws InputError that names line and column, what it holds, and what is allowed */
  readAll(records: readonly CsvRecord[]): Arrival[] {
    const arrivals: Arrival[] = [];
    for (const record of records) if (record.text.trim() !== '') arrivals.push(this.#read(record));
    return arrivals;
  }

  #read({ line, text }: CsvRecord): Arrival {
    const { time, work, base, count } = this.#columns;
    const fields = splitFields(text);
    if (fields.length !== count) {
      throw this.#wrong(
        line,
        `${fields.length} fields, where the first line has ${count}; quote fields that hold commas`,
      );
    }
    const atSeconds = this.#timeOf(line, time, fields[time.index] ?? '');
    let units = base;
    for (const column of work) {
      const field = fields[column.index] ?? '';
      const value = field.trim() === '' ? Number.NaN : Number(field);
      if (!(value >= 0 && value < Infinity)) {
        throw this.#wrongField(line, column, field, 'a number of at least 0');
      }
      units += column.weight * value;
    }
    if (units > MOST_WORK)
      throw this.#wrong(line, `a request of ${units} units of work; allowed: at most ${MOST_WORK}`);
    return { atSeconds, work: units };
  }

  #timeOf(line: number, column: Column, field: string): number {
    this.#unit ??= timeUnitOf(column.name, field);
    const at = parseTime(field, this.#unit);
    if (Number.isNaN(at)) {
      const allowed = `a number (of ${this.#unit}; --time-unit says otherwise) or a date such as 2023-11-16 18:15:46.68`;
      throw this.#wrongField(line, column, field, allowed);
    }
    if (Number.isNaN(this.#start)) this.#start = at;
    const atSeconds = at - this.#start;
    if (atSeconds < this.#last) {
      throw this.#wrongField(
        line,
        column,
        field,
        `a time not before the one above it; sort the file by ${column.name}`,
      );
    }
    if (atSeconds > MOST_DAYS * DAY_SECONDS) {
      throw this.#wrongField(
        line,
        column,
        field,
        `a time at most ${MOST_DAYS} days after the first one, and this is ${Math.ceil(atSeconds / DAY_SECONDS)} days ` +
          'after it; is one of them in seconds and the other in milliseconds, or a 0 where there is no time?',
      );
    }
    this.#last = atSeconds;
    return atSeconds;
  }

  #wrongField(line: number, { name, index }: Column, field: string, allowed: string): InputError {
    const got = field.length > 60 ? `${JSON.stringify(field.slice(0, 60))}…` : JSON.stringify(field);
    return this.#wrong(line, `column ${index + 1} (${name}): got ${got}; allowed: ${allowed}`);
  }

  #wrong(line: number, what: string): InputError {
    return new InputError(`${this.#name}, line ${line}: ${what}`);
  }
}
