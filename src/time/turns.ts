/**
 * One run at a time, and of each kind one that waits: a call while another of its kind waits gets the result of that. It
 * begins after the call, so it sees all that the caller has changed. A storm of signals costs two runs.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Map<string, Promise<unknown>>();

  /** `kind`: calls of one kind have the same `run`. */
  take<Result>(kind: string, run: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(kind) as Promise<Result> | undefined;
    if (waiting) return waiting;
    const turn = this.#last.then(() => {
      this.#waiting.delete(kind);
      return run();
    });
    this.#waiting.set(kind, turn);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
