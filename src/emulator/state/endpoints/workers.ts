import type { StatusStep } from '../steps.ts';

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
  /** When it began to start last. */
  startedMs: number;
}

/** A worker of a worker group. It runs on the instance that has its id, whose price and machine are the instance's. */
export interface WorkerRecord {
  readonly id: number;
  readonly groupId: number;
  /** What it can do, in work units a second. */
  perf: number;
  readonly dlperf: number;
  /** A fraction. */
  readonly reliability: number;
  /** In GB. */
  readonly diskUsage: number;
  /** null: no engine moves it, and it is what its instance is. */
  life: WorkerLife | null;
  /** Statuses of an update that is under way, from `stepsFromMs`; then its instance says what it does. */
  steps: readonly StatusStep<string>[];
  stepsFromMs: number;
}
