/** Limits that the interface states (§8) and the public dialect adds. Validators, messages and documents read them here. */
export const LIMITS = {
  /** Largest `target_util` of an endpoint group, a fraction (§2.7). */
  targetUtilMax: 1.0,
  /** Lines that `get_workergroup_logs` returns at most, which is also its default (public dialect). */
  logTailMax: 10_000,
} as const;
