/** One JSON object a line, on standard output or any other descriptor. */
import type { LogRecord } from '../record.ts';
import type { Sink } from './sink.ts';

/** A blocked pipe holds one batch; the rest waits in the spool, which is bounded. */
export function stdoutSink(output: LineOutput): Sink {
  return {
    name: 'stdout',
    async write({ bytes }, signal) {
      await output.write(bytes, signal);
      return { rejected: 0 };
    },
    close: () => Promise.resolve(),
  };
}

export function toJsonLine(record: LogRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Waits for room, and returns how many bytes were taken, at least one. Rejects if none were. */
type WriteBytes = (bytes: Buffer, signal: AbortSignal) => Promise<number>;

const LINE_END = 0x0a;

/**
 * Writes lines to a descriptor that may fail, or take a part: a full disk, a full pipe. It lives as long as the
 * descriptor, and knows whether its last line has an end. A torn line is ended before anything else is written, as other
 * processes may have written behind it, and comes again as a whole.
 */
export class LineOutput {
  readonly #write: WriteBytes;
  #isTorn: boolean;
  /** What failed last, and how many bytes of it were written, as whole lines. */
  #failed: { readonly lines: Buffer; readonly done: number } | undefined;

  /** @param isTorn Somebody else left a last line without an end. */
  constructor(write: WriteBytes, isTorn = false) {
    this.#write = write;
    this.#isTorn = isTorn;
  }

  /** After a failure, the same buffer goes on at the line that was torn, so none is there twice. */
  async write(lines: Buffer, signal: AbortSignal): Promise<void> {
    const done = this.#failed?.lines === lines ? this.#failed.done : 0;
    const end = Buffer.from(this.#isTorn ? '\n' : '');
    const rest = lines.subarray(done);
    const bytes = end.length > 0 ? Buffer.concat([end, rest]) : rest;
    let taken = 0;
    try {
      while (taken < bytes.length) taken += await this.#write(bytes.subarray(taken), signal);
      this.#failed = undefined;
    } catch (error) {
      // A line that lacks only its end is whole: it is ended and not written again.
      const ended = bytes.subarray(0, taken + 1).lastIndexOf(LINE_END) + 1;
      this.#failed = { lines, done: done + Math.max(0, ended - end.length) };
      throw error;
    } finally {
      if (taken > 0) this.#isTorn = bytes[taken - 1] !== LINE_END;
    }
  }
}
