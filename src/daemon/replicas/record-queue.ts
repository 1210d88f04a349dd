/**
 * Records in order, as bytes outside of JavaScript's heap, so that they take as much memory as they say, and leave
 * nothing to the garbage collector: 64 MiB of records as objects let the heap of a process grow to 300 MiB before V8
 * cleared it up. Each has a position, one more than the one before.
 */
import type { LogRecord } from '../../logs/record.ts';
import type { Batch } from '../../logs/spool/batch.ts';
import { BATCH_BYTES, BATCH_RECORDS } from '../../logs/spool/spool-database.ts';

const CHUNK_BYTES = 2 ** 20;
const LINE_END = 0x0a;

/** About a megabyte of records, each with a line's end; one that is larger has a chunk of its own. */
interface Chunk {
  /** Position of its first record. */
  readonly first: number;
  readonly buffer: Buffer;
  /** Where each of its records ends, behind its line's end. */
  readonly ends: number[];
}

export class RecordQueue {
  /** Oldest first. */
  readonly #chunks: Chunk[] = [];
  #spare: Buffer | undefined;
  #oldest: number;
  #newest: number;
  #bytes = 0;

  /** @param first Position of the first record that comes. */
  constructor(first = 1) {
    this.#oldest = first;
    this.#newest = first - 1;
  }

  /** Of all records in it, without their line ends. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Position of the oldest record; when there is none, of the next that comes. */
  get oldest(): number {
    return this.#oldest;
  }

  /** Position of the newest record; when there is none, of the last that went. */
  get newest(): number {
    return this.#newest;
  }

  /** @param text The record's JSON. */
  push(text: string): void {
    const size = Buffer.byteLength(text);
    const { buffer, ends } = this.#chunkFor(size + 1);
    const start = ends.at(-1) ?? 0;
    buffer.write(text, start);
    buffer[start + size] = LINE_END;
    ends.push(start + size + 1);
    this.#newest += 1;
    this.#bytes += size;
  }

  /** @returns undefined when the record is gone, or not there yet. */
  sizeAt(position: number): number | undefined {
    const place = this.#placeOf(position);
    return place && place.end - place.start;
  }

  /** @returns The record's JSON; undefined when it is gone, or not there yet. */
  textAt(position: number): string | undefined {
    const place = this.#placeOf(position);
    return place?.buffer.toString('utf8', place.start, place.end);
  }

  /**
   * The next records for a sink, from a position on: no more than BATCH_RECORDS and BATCH_BYTES, but one at least.
   *
   * @returns A copy, since a chunk is written again when its records are gone; undefined when there are none.
   */
  batchFrom(position: number): Pick<Batch, 'bytes' | 'count'> | undefined {
    const chunk = this.#chunkOf(position);
    if (chunk === undefined) return undefined;
    const { buffer, ends, first } = chunk;
    const index = position - first;
    const start = ends[index - 1] ?? 0;
    let count = 1;
    while (count < BATCH_RECORDS && (ends[index + count] ?? Infinity) - start <= BATCH_BYTES) count += 1;
    return { bytes: Buffer.from(buffer.subarray(start, ends[index + count - 1])), count };
  }

  *records(): Generator<LogRecord> {
    for (let position = this.#oldest; position <= this.#newest; position += 1) {
      const text = this.textAt(position);
      if (text !== undefined) yield JSON.parse(text);
    }
  }

  /** Removes the oldest record, if there is one. @returns Its position. */
  shift(): number {
    const position = this.#oldest;
    this.shiftThrough(position);
    return position;
  }

  /** Removes all records up to a position, a chunk's at once. */
  shiftThrough(position: number): void {
    const last = Math.min(position, this.#newest);
    for (let [chunk] = this.#chunks; chunk !== undefined && this.#oldest <= last; [chunk] = this.#chunks) {
      const { first, buffer, ends } = chunk;
      const to = Math.min(last, first + ends.length - 1);
      const bytes = (ends[to - first] ?? 0) - (ends[this.#oldest - first - 1] ?? 0);
      this.#bytes -= bytes - (to - this.#oldest + 1);
      this.#oldest = to + 1;
      if (to < first + ends.length - 1) return;
      this.#chunks.shift();
      // One is kept, so that a queue that is never empty for long, or always full, allocates nothing.
      if (buffer.length === CHUNK_BYTES) this.#spare = buffer;
    }
  }

  clear(): void {
    this.shiftThrough(this.#newest);
  }

  #chunkFor(size: number): Chunk {
    const last = this.#chunks.at(-1);
    if (last !== undefined && (last.ends.at(-1) ?? 0) + size <= last.buffer.length) return last;
    const spare = size <= CHUNK_BYTES ? this.#spare : undefined;
    if (spare !== undefined) this.#spare = undefined;
    // Not from Node's pool, of which a small piece would keep the whole.
    const buffer = spare ?? Buffer.allocUnsafeSlow(Math.max(size, CHUNK_BYTES));
    const chunk = { first: this.#newest + 1, buffer, ends: [] };
    this.#chunks.push(chunk);
    return chunk;
  }

  #placeOf(position: number): { buffer: Buffer; start: number; end: number } | undefined {
    const chunk = this.#chunkOf(position);
    if (chunk === undefined) return undefined;
    const { buffer, ends, first } = chunk;
    return { buffer, start: ends[position - first - 1] ?? 0, end: (ends[position - first] ?? 0) - 1 };
  }

  #chunkOf(position: number): Chunk | undefined {
    if (position < this.#oldest || position > this.#newest) return undefined;
    return this.#chunks.findLast(({ first }) => first <= position);
  }
}
