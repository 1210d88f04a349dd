import type { StatusStep } from './steps.ts';

/** A worker of a worker group. It runs on the instance that has its id, whose status and price are the instance's. */
export interface WorkerRecord {
  readonly id: number;
  readonly groupId: number;
  /** What it is taken to be able to do, in work units a second. */
  readonly perf: number;
  readonly dlperf: number;
  /** A fraction. */
  readonly reliability: number;
  /** In GB. */
  readonly diskUsage: number;
  /** Statuses of an update that is under way, from `stepsFromMs`; then its instance says what it does. */
  steps: readonly StatusStep<string>[];
  stepsFromMs: number;
}
