/** What is known of an endpoint after one more sample, or after what was stored before. Pure. */
import type { FleetSample } from '../sample.ts';
import type { LifeEvent } from '../workers/lives.ts';
import { added, rowOf, stretched, type StepRow } from './fold.ts';
import type { EndpointState, StartRecord } from './store.ts';
import { TIER_MS } from './tiers.ts';

/** Minutes and hours that are over become rows; those that have begun are open. */
export function afterSample(before: EndpointState | undefined, label: string, sample: FleetSample) {
  const row = rowOf(sample);
  const closed: StepRow[] = [];
  const open = (['minute', 'hour'] as const).map((tier) => {
    const next = stretched(row, TIER_MS[tier]);
    const last = before?.open.find(({ lengthMs }) => lengthMs === next.lengthMs);
    if (last?.fromMs === next.fromMs) return added(last, next);
    if (last) closed.push(last);
    return next;
  });
  const state: EndpointState = {
    label,
    // The clock may have been ahead at the first one.
    sinceMs: Math.min(before?.sinceMs ?? Infinity, sample.atMs),
    lastMs: sample.atMs,
    open,
  };
  return { row, closed, state };
}

export function startOf(event: LifeEvent, endpoint: string, atMs: number): StartRecord | undefined {
  if (event.kind !== 'started') return undefined;
  const { from, seconds, perf } = event;
  return { endpoint, atMs, from, seconds, perf };
}

/** What was seen here before it could be read what was stored. */
export function goneOn(stored: EndpointState, own: EndpointState): EndpointState {
  return { ...own, sinceMs: Math.min(own.sinceMs, stored.sinceMs) };
}
