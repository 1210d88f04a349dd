/** Where the history is kept: on disk, in Redis, or in memory. Each keeps the same things in the same way. */
import type { KnownEndpoint } from '../discovery/knowledge.ts';
import type { Origin, WorkerLife } from '../workers/lives.ts';
import type { StepRow } from './fold.ts';
import type { Tier } from './tiers.ts';

/** Of an endpoint, as of its last sample; stored with it. */
export interface EndpointState {
  readonly label: string;
  /** Of its first and its last sample, Unix ms. */
  readonly sinceMs: number;
  readonly lastMs: number;
  /** The minute and the hour that are not over: they become rows when they are. */
  readonly open: readonly StepRow[];
}

/** A start that was timed; of each endpoint the last ones are kept. */
export interface StartRecord {
  readonly endpoint: string;
  readonly atMs: number;
  readonly from: Origin;
  readonly seconds: number;
  /** What the worker's own benchmark found, units a second. */
  readonly perf: number | undefined;
}

export const STARTS_KEPT = 500;

export type StoredEndpoint = Pick<KnownEndpoint, 'id' | 'name' | 'label'>;

/** What a process goes on from. */
export interface StoredState {
  /** Another process has written since this one did. */
  readonly isOthers: boolean;
  readonly endpoints: readonly EndpointState[];
  readonly lives: readonly WorkerLife[];
  /** By time. */
  readonly starts: readonly StartRecord[];
  readonly known: readonly StoredEndpoint[];
}

export const NOTHING_STORED: StoredState = {
  isOthers: false,
  endpoints: [],
  lives: [],
  starts: [],
  known: [],
};

/** What one look, or one list of endpoints, brings. */
export interface Write {
  /** Of one endpoint. A row of a stretch that has one already is added to it. */
  readonly rows: readonly StepRow[];
  /** Undefined where it stays as it is. */
  readonly state: EndpointState | undefined;
  /** Of an endpoint, where there are rows and no state. */
  readonly label: string;
  readonly lives: readonly WorkerLife[];
  /** Workers that are forgotten; `all` are, before these lives are stored. */
  readonly gone: readonly number[] | 'all';
  readonly starts: readonly StartRecord[];
  readonly known: readonly StoredEndpoint[] | undefined;
}

export const NO_WRITE: Write = {
  rows: [],
  state: undefined,
  label: '',
  lives: [],
  gone: [],
  starts: [],
  known: undefined,
};

export interface HistoryStore {
  readonly kind: 'disk' | 'redis' | 'memory';
  /** For how long it has each tier, ms. */
  readonly keptMs: Readonly<Record<Tier, number>>;
  /** Whether it can be written; it may end to be so at any failure. */
  readonly isOpen: boolean;
  /** @throws What keeps it from being used just now. */
  open(): Promise<StoredState>;
  /** All of it is stored, or nothing. @throws What keeps it from being written just now. */
  write(writes: readonly Write[], nowMs: number): Promise<void>;
  /**
   * Adds rows of an endpoint to those that are there, though another process writes now. Only where there may be one.
   *
   * @throws What keeps it from being written just now; then it may have been.
   */
  add?(label: string, rows: readonly StepRow[], nowMs: number): Promise<void>;
  /** Rows of an endpoint whose stretches begin from the first moment on, before the second; earliest first. */
  read(label: string, tier: Tier, fromMs: number, toMs: number): Promise<readonly StepRow[]>;
  close(): void;
}
