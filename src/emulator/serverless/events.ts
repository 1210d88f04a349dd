/** What happened to an endpoint and why: its log. Pure. */
import type { EndpointGroupRecord } from '../state/endpoint-groups.ts';

/** Older ones are forgotten. */
const KEPT = 10_000;

export function noteEvent(endpoint: EndpointGroupRecord, text: string, nowMs: number): void {
  endpoint.events.push({ atMs: nowMs, text });
  if (endpoint.events.length > KEPT) endpoint.events.splice(0, endpoint.events.length - KEPT);
}

/** The last `tail` lines, each with its time. */
export function eventText({ events }: EndpointGroupRecord, tail: number): string {
  const lines = events.slice(-tail).map(({ atMs, text }) => `${new Date(atMs).toISOString()} ${text}\n`);
  return lines.join('');
}
