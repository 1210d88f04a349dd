/** Which logs a user wants, and which those are by the lists of the service. Ids change with redeployments, names stay. */
import type { LogSource } from '../source.ts';

export type WantedLog =
  | { readonly by: 'id'; readonly id: number }
  /** The endpoint of that name, or all groups that make workers for it. */
  | { readonly by: 'name'; readonly name: string }
  | { readonly by: 'all' };

/** A row of a list: a worker group, or an endpoint. */
export interface ListedLog {
  readonly id: number;
  /** Of the endpoint; for a worker group, of the endpoint that it serves. */
  readonly endpoint_name?: string | null | undefined;
}

interface Known {
  /** undefined if the list does not say it. */
  readonly endpoint: string | undefined;
  /** Lists in a row that did not have it. */
  readonly missed: number;
}

/** By id. */
export type KnownLogs = ReadonlyMap<number, Known>;

export const NOTHING_KNOWN: KnownLogs = new Map();

/** A list without a log may be a fault of the service; so many in a row are not. */
const LISTS_TO_BE_GONE = 2;

export function afterList(known: KnownLogs, listed: readonly ListedLog[]): KnownLogs {
  const next = new Map<number, Known>();
  for (const [id, one] of known) {
    if (one.missed + 1 < LISTS_TO_BE_GONE) next.set(id, { ...one, missed: one.missed + 1 });
  }
  for (const { id, endpoint_name } of listed) {
    next.set(id, { endpoint: endpoint_name ?? known.get(id)?.endpoint, missed: 0 });
  }
  return next;
}

/** By id, ascending. A worker group that is wanted by its id needs no list. */
export function followedLogs(
  kind: LogSource['kind'],
  wanted: readonly WantedLog[],
  known: KnownLogs,
): readonly LogSource[] {
  const needsList = kind === 'endpoint';
  const ids = new Set(wanted.flatMap((one) => (one.by === 'id' && !needsList ? [one.id] : [])));
  for (const [id, { endpoint }] of known) if (wanted.some((one) => fits(one, id, endpoint))) ids.add(id);
  return [...ids]
    .sort((a, b) => a - b)
    .map((id) => (needsList ? { kind, id, name: known.get(id)?.endpoint ?? `#${id}` } : { kind, id }));
}

function fits(wanted: WantedLog, id: number, endpoint: string | undefined): boolean {
  switch (wanted.by) {
    case 'all':
      return true;
    case 'id':
      return wanted.id === id;
    case 'name':
      return wanted.name === endpoint;
  }
}

/** Wanted endpoints that the list lacks, or for which it has no group. */
export function missingEndpoints(wanted: readonly WantedLog[], known: KnownLogs): readonly string[] {
  const there = new Set(Array.from(known.values(), ({ endpoint }) => endpoint));
  return wanted.flatMap((one) => (one.by === 'name' && !there.has(one.name) ? [one.name] : []));
}
