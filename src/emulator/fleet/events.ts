/** What happened to an endpoint and why: its log. Pure. */
import type { EndpointEvent, EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';

/** Older ones are forgotten. */
const KEPT = 10_000;

export function noteEvent(endpoint: EndpointGroupRecord, text: string, nowMs: number): void {
  note(endpoint.events, { atMs: nowMs, text });
}

/** For the level with most detail alone. */
export function noteDetail(endpoint: EndpointGroupRecord, text: string, nowMs: number): void {
  note(endpoint.details, { atMs: nowMs, text });
}

function note(events: EndpointEvent[], event: EndpointEvent): void {
  events.push(event);
  // Seldom, since what is cut off moves all the rest.
  if (events.length >= 2 * KEPT) events.splice(0, events.length - KEPT);
}

/** The last `tail` lines, each with its time; `info0` has the details too. */
export function eventText(
  { events, details }: EndpointGroupRecord,
  level: 'info0' | 'info1',
  tail: number,
): string {
  const most = Math.min(tail, KEPT);
  const shown = level === 'info1' ? events.slice(-most) : merged(events.slice(-most), details.slice(-most));
  return shown
    .slice(-most)
    .map(({ atMs, text }) => `${new Date(atMs).toISOString()} ${text}\n`)
    .join('');
}

/** In order of time; of the same moment, details first: they are the reason. */
function merged(events: readonly EndpointEvent[], details: readonly EndpointEvent[]): EndpointEvent[] {
  return [...details, ...events].toSorted((one, other) => one.atMs - other.atMs);
}
