/**
 * Which logs are to be followed, as a user writes it, and which they are by what the lists of worker groups and endpoints
 * have said. Ids change with every redeployment, names stay. Pure.
 */
import type { LogSource } from '../source.ts';

export type WantedLog =
  | { readonly by: 'id'; readonly id: number }
  /** The endpoint of that name, or all groups that make workers for it. */
  | { readonly by: 'name'; readonly name: string }
  /** All of the account. */
  | { readonly by: 'all' };

/** A row of a list: a worker group, or an endpoint. */
export interface ListedLog {
  readonly id: number;
  /** Of the endpoint; for a worker group, of the one that it serves. */
  readonly endpoint_name?: string | null | undefined;
}

interface Known {
  /** undefined if the list does not say it. */
  readonly endpoint: string | undefined;
  /** Lists in a row that did not have it. */
  readonly missed: number;
}

/** By id. */
export type Knowledge = ReadonlyMap<number, Known>;

export const NOTHING_KNOWN: Knowledge = new Map();

/** A log is gone when so many lists in a row do not have it: one that misses it may be a fault of the service. */
const LISTS_TO_BE_GONE = 2;

export function afterList(known: Knowledge, listed: readonly ListedLog[]): Knowledge {
  const next = new Map<number, Known>();
  for (const [id, one] of known) {
    if (one.missed + 1 < LISTS_TO_BE_GONE) next.set(id, { ...one, missed: one.missed + 1 });
  }
  for (const { id, endpoint_name } of listed) {
    next.set(id, { endpoint: endpoint_name ?? known.get(id)?.endpoint, missed: 0 });
  }
  return next;
}

/** By id, ascending. A worker group that is wanted by its id needs no list; of an endpoint the list has the name. */
export function followedLogs(
  kind: LogSource['kind'],
  wanted: readonly WantedLog[],
  known: Knowledge,
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

/** Endpoints that are wanted and that are not in the list, or have no group in it. */
export function missingEndpoints(wanted: readonly WantedLog[], known: Knowledge): readonly string[] {
  const there = new Set(Array.from(known.values(), ({ endpoint }) => endpoint));
  return wanted.flatMap((one) => (one.by === 'name' && !there.has(one.name) ? [one.name] : []));
}
