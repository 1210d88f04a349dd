/** Reads a trace of requests from a CSV file as a stream: memory does not grow with the file. */
import { createReadStream } from 'node:fs';
import { InputError } from '../input-error.ts';
import type { Arrival, ArrivalStream } from '../../scaling/planner/load.ts';
import { parseTime, type TimeUnit } from './trace-time.ts';
import { chooseColumns, splitFields, type TraceColumns } from './trace-columns.ts';

export interface TraceOptions {
  readonly timeColumn?: string | undefined;
  readonly timeUnit: TimeUnit;
  /** Column → units of work for each unit of its number. */
  readonly weights: ReadonlyMap<string, number>;
  /** Units of every request, on top of its columns. */
  readonly requestWork: number | undefined;
}

export interface Trace {
  readonly columns: TraceColumns;
  readonly arrivals: ArrivalStream;
}

/** Opens the file (`-` is standard input) and reads its first line. Throws an InputError that says what is wrong. */
export async function openTrace(path: string, options: TraceOptions): Promise<Trace> {
  const lines = linesOf(path);
  const first = await lines.next();
  const [header, ...rest] = first.done ? [] : first.value;
  if (header === undefined) throw new InputError(`${path}: the file is empty`);
  const columns = chooseColumns(splitFields(header.replace(/^\uFEFF/, '')), options);
  if (typeof columns === 'string') throw new InputError(`${path}: ${columns}`);
  return { columns, arrivals: arrivalsOf(path, columns, options.timeUnit, rest, lines) };
}

async function* arrivalsOf(
  path: string,
  { time, work, base }: TraceColumns,
  unit: TimeUnit,
  rest: readonly string[],
  lines: AsyncGenerator<readonly string[]>,
): AsyncGenerator<readonly Arrival[]> {
  let [number, start, last] = [1, Number.NaN, 0];
  const weighed = work.map(({ index, weight }) => [index, weight] as const);
  function read(line: string): Arrival {
    const fields = splitFields(line);
    const wrong = (what: string) => new InputError(`${path}, line ${number}: ${what}`);
    const at = parseTime(fields[time.index] ?? '', unit);
    if (Number.isNaN(at)) throw wrong(`${time.name} is ${fields[time.index] ?? 'missing'}, which is no time`);
    if (Number.isNaN(start)) start = at;
    const atSeconds = at - start;
    if (atSeconds < last) throw wrong(`earlier than the line before it; sort the file by ${time.name}`);
    last = atSeconds;
    let units = base;
    for (const [index, weight] of weighed) {
      const text = fields[index];
      const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
      if (!(value >= 0 && value < Infinity)) {
        const name = work.find((column) => column.index === index)?.name ?? '';
        throw wrong(`${name} is ${text ?? 'missing'}, not a number of at least 0`);
      }
      units += weight * value;
    }
    return { atSeconds, work: units };
  }
  function readAll(texts: readonly string[]): Arrival[] {
    const arrivals: Arrival[] = [];
    for (const text of texts) {
      number += 1;
      if (text.trim() !== '') arrivals.push(read(text));
    }
    return arrivals;
  }
  yield readAll(rest);
  for await (const texts of lines) yield readAll(texts);
}

/** Lines in pieces, each of what one read of the file brought. */
async function* linesOf(path: string): AsyncGenerator<readonly string[]> {
  const stream = path === '-' ? process.stdin.setEncoding('utf8') : createReadStream(path, 'utf8');
  let tail = '';
  try {
    for await (const piece of stream as AsyncIterable<string>) {
      const lines = (tail + piece).split(/\r?\n/);
      tail = lines.pop() ?? '';
      if (lines.length > 0) yield lines;
    }
  } catch (cause) {
    throw new InputError(`${path}: ${(cause as Error).message}`, { cause });
  }
  if (tail !== '') yield [tail];
}
