/** Endpoint groups, worker groups, workers and logs. A log stores its growth, not its lines. */
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
  /** Without defaults: rules may tell the two apart. */
  parameters: EndpointGroupParameters;
  further: EndpointSettings;
  state: EndpointState;
  /** A secret for the serverless address only. */
  readonly apiKey: string;
  /** It ends with this deployment; null: created by itself. */
  deploymentId: number | null;
  readonly logs: EndpointLogs;
  /** null: only requests by /route/. */
  load: LoadRecord | null;
  /** Its engine begins with the workers that the parameters keep. */
  readonly established: boolean;
  /** No start of its workers ends. */
  hangs: boolean;
  requests: number;
}

/** `info1`: decisions; `info0`: looks too; `trace`, `debug`: values and workers of each look. */
export type EndpointLogs = Readonly<Record<'info0' | 'info1' | 'trace' | 'debug', GroupLog>>;

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
  /** null: none, as in a seed. */
  endpointId: number | null;
  readonly createdMs: number;
  traits: WorkerGroupTraits;
  readonly image: string;
  /** With a load, for each serving worker. */
  linesPerSecond: number;
  readonly log: GroupLog;
}

export type Scenery = 'all' | 'busy' | 'idle';

export type LineSource =
  | { readonly kind: 'generated'; readonly seed: number; readonly scenes?: Scenery }
  /** With `loop` the lines begin again, else the log stops after them. */
  | { readonly kind: 'replay'; readonly lines: readonly string[]; readonly loop: boolean }
  /** All lines at each look of an engine, with the time in them. */
  | { readonly kind: 'looks'; readonly lines: readonly string[]; readonly everyMs: number };

export interface Literal {
  readonly kind: 'literal';
  readonly first: number;
  readonly lines: string[];
}

export interface Growth {
  readonly kind: 'growth';
  readonly first: number;
  /** Line `n` (from 0) is written `(n + 1) / linesPerSecond` seconds later. */
  readonly sinceMs: number;
  readonly linesPerSecond: number;
  readonly sourceFirst: number;
  readonly source: LineSource;
  readonly end?: number;
}

export interface GroupLog {
  /** Ascending, without holes; the last one is an open growth, perhaps with rate 0. */
  segments: (Literal | Growth)[];
  readonly retainedLines: number;
  /** `clear` discarded the lines before this index. */
  clearedBefore: number;
  /** Text after the last line break. */
  unfinished: string;
  /** By level: the current file, as far as read. */
  readonly files: Record<string, LogFile>;
}

export interface LogFile {
  first: number;
  end: number;
  bytes: number;
}

/** `ready`: hot, busy or not. `error`: died. `rebooting`: crashed, and starting again. */
export type WorkerPhase =
  | 'creating'
  | 'cold'
  | 'starting'
  | 'ready'
  | 'draining'
  | 'error'
  | 'rebooting'
  | 'destroying';

export interface WorkerLife {
  phase: WorkerPhase;
  sinceMs: number;
  /** null before the first time, when its performance is unknown. */
  readyMs: number | null;
  startedMs: number;
}

/** It runs on the instance with its id. */
export interface WorkerRecord {
  readonly id: number;
  readonly groupId: number;
  /** Work units a second; null until the engine draws it. */
  perf: number | null;
  /** null: no engine moves it. */
  life: WorkerLife | null;
  /** Finished requests that it still counts (evidence 3.3). */
  stuckRequests: number;
  /** Another tenant has its GPU: once stopped it never starts again (evidence 5.4). */
  isStranded: boolean;
  /** Statuses of a running update, from `stepsFromMs`. */
  steps: readonly StatusStep<string>[];
  stepsFromMs: number;
}
