/** Worker groups and their logs, kept as what they grow by instead of line by line. */

/** What its owner says of it; null: unset. */
export interface WorkerGroupTraits {
  readonly templateHash: string | null;
  readonly templateId: number | null;
  readonly searchQuery: string | null;
  readonly launchArgs: string | null;
  /** In GB, as this operation has it. */
  readonly gpuRam: number | null;
  /** How many workers it begins with. */
  readonly testWorkers: number | null;
  readonly coldWorkers: number | null;
}

export interface WorkerGroupRecord {
  readonly id: number;
  readonly userId: number;
  /** null: it serves none, as a seed may have it. */
  endpointId: number | null;
  /** Unix time in ms. */
  readonly createdMs: number;
  traits: WorkerGroupTraits;
  /** What its workers run. */
  readonly image: string;
  /** Lines a second that its log grows by; of an endpoint with a load, those of each worker that serves. */
  linesPerSecond: number;
  readonly log: GroupLog;
}

/** Which scenes of an inference server's life a generated log is made of. */
export type Scenery = 'all' | 'busy' | 'idle';

export type LineSource =
  /** Without scenes: all of them. */
  | { readonly kind: 'generated'; readonly seed: number; readonly scenes?: Scenery }
  /** Given lines; with `loop` from the start again when they are all written, else the log stops there. */
  | { readonly kind: 'replay'; readonly lines: readonly string[]; readonly loop: boolean };

export interface Literal {
  readonly kind: 'literal';
  readonly first: number;
  readonly lines: string[];
}

export interface Growth {
  readonly kind: 'growth';
  /** Index of its first line in the whole log. */
  readonly first: number;
  /** Its line `n` (from 0) is written `(n + 1) / linesPerSecond` seconds after this time. */
  readonly sinceMs: number;
  readonly linesPerSecond: number;
  /** Index in the source of its first line. */
  readonly sourceFirst: number;
  readonly source: LineSource;
  /** Index in the whole log after its last line; open while it still grows. */
  readonly end?: number;
}

export interface GroupLog {
  /** Ascending and without holes; the last one is an open growth (which may have rate 0). */
  segments: (Literal | Growth)[];
  /** Lines the service keeps. */
  readonly retainedLines: number;
  /** Lines before this index were thrown away by `clear`. */
  clearedBefore: number;
  /** What was written after the last line break. */
  unfinished: string;
}
