import type { HeartbeatDriver } from '../../../../src/heartbeat/driver/driver.ts';
import type { DeploymentSnapshot } from '../../../../src/heartbeat/view/snapshot.ts';
import { timingFor } from '../../../../src/heartbeat/engine/formulas.ts';
import { startHeartbeat, type Heartbeat } from '../../../../src/heartbeat/engine/state.ts';

/** Monotonic ms. */
export const NOW = 1_000_000;

export interface Item {
  readonly beat: Heartbeat;
}

/** A heartbeat that is due, whose last acknowledged beat left so long ago, ms. */
export function due(
  id: number,
  age: number,
  changes: Partial<Heartbeat> = {},
  { ttl }: { readonly ttl: number | undefined } = { ttl: 60_000 },
): Item {
  const begun = { mono: NOW - age, wall: NOW - age };
  const timing = timingFor({ ttl, interval: 'auto' });
  const beat = startHeartbeat({ id, timing, spread: 1, dueAt: begun.mono, keyGeneration: 1 }, begun);
  return { beat: { ...beat, acknowledged: true, ...changes } };
}

/** One whose attempt is slow, and that may have a second one beside it. */
export function hedging(id: number, age: number): Item {
  const attempt = { id: 1, sentAt: NOW - 2_000, elapsedAt: NOW - 2_000, keyGeneration: 1, overdue: false };
  const latencies = Array.from({ length: 20 }, () => 50);
  return due(id, age, {
    inFlight: [attempt],
    lastSentAt: NOW - 2_000,
    dueAt: Infinity,
    latencies,
    state: 'urgent',
  });
}

/** All that a driver keeps alive, by id. */
export function viewsOf(driver: Pick<HeartbeatDriver, 'snapshotOf'>): DeploymentSnapshot[] {
  return Array.from({ length: 10_001 }, (_, id) => driver.snapshotOf(id)).filter(
    (view) => view !== undefined,
  );
}
