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
  /** What failed last, and how many of its lines were written. */
  #failed: { readonly lines: readonly string[]; readonly done: number } | undefined;

  /** @param isTorn Whether somebody else left a last line there that has no end. */
  constructor(write: WriteBytes, isTorn = false) {
    this.#write = write;
    this.#isTorn = isTorn;
  }

  /**
   * Resolves when all lines are written. After a failure, the same lines (the same array) go on
   * where they were torn, so that none is there twice.
   *
   * @param lines Without line ends, in them or after them.
   */
  async write(lines: readonly string[], signal: AbortSignal): Promise<void> {
    const done = this.#failed?.lines === lines ? this.#failed.done : 0;
    const torn = this.#isTorn ? '\n' : '';
    const rest = lines.slice(done);
    const bytes = Buffer.from(torn + (rest.length === 0 ? '' : `${rest.join('\n')}\n`));
    let taken = 0;
    try {
      while (taken < bytes.length) taken += await this.#write(bytes.subarray(taken), signal);
      this.#failed = undefined;
    } catch (error) {
      // A line that lacks its end alone is whole: it is ended and not written again.
      const ended = countLineEnds(bytes.subarray(0, bytes[taken] === LINE_END ? taken + 1 : taken));
      this.#failed = { lines, done: done + Math.max(0, ended - torn.length) };
      throw error;
    } finally {
      if (taken > 0) this.#isTorn = bytes[taken - 1] !== LINE_END;
    }
  }
}

function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}
