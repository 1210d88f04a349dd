/** Lines onto a descriptor that may fail for a while and take part of what it is given: a full disk, a full pipe. */

/**
 * Writes bytes and says how many were taken, at least one; waits where there is no room for now.
 * Rejects when none were taken: the descriptor fails, or the signal has aborted.
 */
export type WriteBytes = (bytes: Buffer, signal: AbortSignal) => Promise<number>;

const LINE_END = 0x0a;

/**
 * Lives as long as the descriptor: it knows whether the last line there has an end. One that a failure tore is ended
 * before anything else is written, since other processes may have written behind it, and comes again as a whole.
 */
export class LineOutput {
  readonly #write: WriteBytes;
  #isTorn: boolean;
  /** What failed last, and how many bytes of it, whole lines, were written. */
  #failed: { readonly lines: Buffer; readonly done: number } | undefined;

  /** @param isTorn Whether somebody else left a last line there that has no end. */
  constructor(write: WriteBytes, isTorn = false) {
    this.#write = write;
    this.#isTorn = isTorn;
  }

  /**
   * Resolves when all lines are written. After a failure, the same lines (the same buffer) go on
   * where they were torn, so that none is there twice.
   *
   * @param lines Each with its line's end.
   */
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
      // A line that lacks its end alone is whole: it is ended and not written again.
      const ended = bytes.subarray(0, taken + 1).lastIndexOf(LINE_END) + 1;
      this.#failed = { lines, done: done + Math.max(0, ended - end.length) };
      throw error;
    } finally {
      if (taken > 0) this.#isTorn = bytes[taken - 1] !== LINE_END;
    }
  }
}
