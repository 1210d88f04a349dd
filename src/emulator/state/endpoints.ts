/** Endpoint groups, their worker groups, the logs of both, and workers. A log is kept as what it grows by, not line by line. */
import type {
  EndpointGroupParameters,
  EndpointSettings,
  EndpointState,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import type { StatusStep } from './instances.ts';
import type { LoadRecord } from './loads.ts';

export interface EndpointGroupRecord {
  readonly id: number;
  readonly userId: number;
  readonly createdMs: number;
  /** What the user set, without defaults: a rule may tell the two apart. */
  parameters: EndpointGroupParameters;
  further: EndpointSettings;
  state: EndpointState;
  /** Its own key, a secret: good at the serverless address alone. */
  readonly apiKey: string;
  /** The deployment that it was made for, and ends with; null: it was made by itself. */
  deploymentId: number | null;
  /** What its engine sees and does. */
  readonly logs: EndpointLogs;
  /** What is asked of it; null: nothing but the requests that come over /route/. */
  load: LoadRecord | null;
  /** Its engine begins with the workers that the parameters keep, as if it had always been there. */
  readonly established: boolean;
  /** No start of its workers ends well. */
  hangs: boolean;
  /** Requests that asked it for a worker so far. */
  requests: number;
}

/** `info1`: what was done; `info0`: each look as well; `trace` and `debug`: of each look the values and the workers. */
export type EndpointLogs = Readonly<Record<'info0' | 'info1' | 'trace' | 'debug', GroupLog>>;

/** What its owner says of it, as the interface shows it; null: unset. */
export interface WorkerGroupTraits {
  readonly template_hash: string | null;
  readonly template_id: number | null;
  readonly search_query: Readonly<Record<string, unknown>> | null;
  readonly launch_args: string | null;
  readonly gpu_ram: number | null;
  readonly test_workers: number | null;
  readonly cold_workers: number | null;
}

export interface WorkerGroupRecord {
  readonly id: number;
  readonly userId: number;
  /** null: it serves none, as a seed may have it. */
  endpointId: number | null;
  readonly createdMs: number;
  traits: WorkerGroupTraits;
  readonly image: string;
  /** Lines a second that its log grows by; of an endpoint with a load, those of each worker that serves. */
  linesPerSecond: number;
  readonly log: GroupLog;
}

/** Which scenes of an inference server's life a generated log is made of. */
export type Scenery = 'all' | 'busy' | 'idle';

export type LineSource =
  | { readonly kind: 'generated'; readonly seed: number; readonly scenes?: Scenery }
  /** Given lines; with `loop` from the start again when they are all written, else the log stops there. */
  | { readonly kind: 'replay'; readonly lines: readonly string[]; readonly loop: boolean }
  /** What an engine says at each of its looks: all of these lines at once, with the time in them. */
  | { readonly kind: 'looks'; readonly lines: readonly string[]; readonly everyMs: number };

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
  readonly retainedLines: number;
  /** Lines before this index were thrown away by `clear`. */
  clearedBefore: number;
  /** What was written after the last line break. */
  unfinished: string;
  /** By level, as far as it was looked at: where the file begins that was wiped last. */
  readonly files: Record<string, LogFile>;
}

/** Indices of lines, and the bytes between them. */
export interface LogFile {
  first: number;
  end: number;
  bytes: number;
}

/**
 * What the engine of its endpoint has it do. `ready` is hot, whether or not it works; `error`: it has died, and is
 * destroyed soon; `rebooting`: it has erred, and starts again.
 */
export type WorkerPhase =
  | 'creating'
  | 'cold'
  | 'starting'
  | 'ready'
  | 'draining'
  | 'error'
  | 'rebooting'
  | 'destroying';

/** A worker that an engine moves. Times in Unix ms. */
export interface WorkerLife {
  phase: WorkerPhase;
  sinceMs: number;
  /** When it was ready last; null before the first time, when nobody knows what it can do. */
  readyMs: number | null;
  startedMs: number;
}

/** A worker of a worker group. It runs on the instance that has its id, whose price and machine are the instance's. */
export interface WorkerRecord {
  readonly id: number;
  readonly groupId: number;
  /** What it can do, in work units a second; null until its engine has drawn it. */
  perf: number | null;
  /** null: no engine moves it, and it is what its instance is. */
  life: WorkerLife | null;
  /** Requests that it has done and still counts, until it starts again (evidence 3.3). */
  stuckRequests: number;
  /** Another tenant has its GPU: once it is stopped it never starts again (evidence 5.4). */
  isStranded: boolean;
  /** Statuses of an update that is under way, from `stepsFromMs`; then its instance says what it does. */
  steps: readonly StatusStep<string>[];
  stepsFromMs: number;
}
