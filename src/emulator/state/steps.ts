/** A status that passes into the next one by itself. */
export interface StatusStep<Status extends string> {
  readonly status: Status;
  /** How long it lasts before the next step; null: for good. */
  readonly durationMs: number | null;
}
