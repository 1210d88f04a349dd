/**
 * A row as bytes: some 30 for a sample and 70 for a minute or an hour, where JSON would take ten times that. A year of
 * ten endpoints is three quarters of a million rows. Pure.
 *
 * Numbers are unsigned LEB128 (seven bits a byte, the lowest first). First how many samples the row has. Then a byte
 * that says which measures were ever known; for each of these the count of samples that knew it, where the row has more
 * than one, its sum, and its peak, where the row has more than one. Then how many statuses there were, and for each its
 * number, sum, and peak as above.
 */
import type { Measure } from '../sample.ts';
import type { StepRow } from './fold.ts';
import type { Aggregate } from './row.ts';

/** What is stored goes by these orders: add at their ends only. */
export const MEASURE_ORDER = [
  'load',
  'load_average',
  'capacity_hot',
  'capacity_cold',
  'requests_working',
  'spend_per_hour',
] as const satisfies readonly Measure[];
export const STATUS_ORDER: readonly string[] = [
  'unknown',
  'pending',
  'creating',
  'created',
  'loading',
  'model_loading',
  'starting',
  'idle',
  'stopping',
  'stopped',
  'rebooting',
  'update_ready',
  'update_rebooting',
  'update_starting',
  'error',
  'destroying',
];

const NOTHING: Aggregate = { count: 0, sum: 0, peak: 0 };

export function packed({ samples, measures, workers }: StepRow): Uint8Array {
  const bytes: number[] = [];
  const isOne = samples === 1;
  const known = MEASURE_ORDER.map((name) => measures[name].count > 0);
  push(bytes, samples);
  push(
    bytes,
    known.reduce((mask, isKnown, place) => mask + (isKnown ? 2 ** place : 0), 0),
  );
  for (const [place, name] of MEASURE_ORDER.entries()) {
    const { count, sum, peak } = measures[name];
    if (!known[place]) continue;
    if (!isOne) push(bytes, count);
    push(bytes, sum);
    if (!isOne) push(bytes, peak);
  }
  const statuses = Object.entries(workers);
  push(bytes, statuses.length);
  for (const [status, { sum, peak }] of statuses) {
    push(bytes, Math.max(0, STATUS_ORDER.indexOf(status)));
    push(bytes, sum);
    if (!isOne) push(bytes, peak);
  }
  return Uint8Array.from(bytes);
}

/** @throws SyntaxError where the bytes are no row. */
export function unpacked(bytes: Uint8Array, fromMs: number, lengthMs: number): StepRow {
  const reader = new Reader(bytes);
  const samples = reader.next();
  const isOne = samples === 1;
  const mask = reader.next();
  const measures: Partial<Record<Measure, Aggregate>> = {};
  for (const [place, name] of MEASURE_ORDER.entries()) {
    if (Math.floor(mask / 2 ** place) % 2 === 0) {
      measures[name] = NOTHING;
      continue;
    }
    const count = isOne ? 1 : reader.next();
    const sum = reader.next();
    measures[name] = { count, sum, peak: isOne ? sum : reader.next() };
  }
  const workers: Record<string, Aggregate> = {};
  for (let rest = reader.next(); rest > 0; rest -= 1) {
    const status = STATUS_ORDER[reader.next()] ?? 'unknown';
    const sum = reader.next();
    workers[status] = { count: samples, sum, peak: isOne ? sum : reader.next() };
  }
  return { fromMs, lengthMs, samples, measures: measures as Record<Measure, Aggregate>, workers };
}

/**
 * More than 2^53 steps is nothing that a worker does, and fewer than none neither. Whatever comes, what is written can be
 * read: else one number would cost the whole file.
 */
function push(bytes: number[], value: number): void {
  let rest = Math.round(Math.min(Math.max(0, value || 0), Number.MAX_SAFE_INTEGER));
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new SyntaxError('a row of the history ends in the middle');
      this.#at += 1;
      value += (byte % 128) * scale;
      if (byte >= 128) continue;
      if (!Number.isSafeInteger(value)) throw new SyntaxError('a row of the history has no number');
      return value;
    }
  }
}
