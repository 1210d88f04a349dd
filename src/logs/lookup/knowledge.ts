/** What the lists of worker groups have said, and which groups are followed for it. Pure. */
import type { WantedGroup } from './wanted.ts';

/** A row of the list, as far as it counts here. */
export interface ListedGroup {
  readonly id: number;
  readonly endpoint_name?: string | null | undefined;
}

interface KnownGroup {
  /** Name of the endpoint that it serves; undefined where the list does not say. */
  readonly endpoint: string | undefined;
  /** Lists in a row that did not have it. */
  readonly missed: number;
}

export type Knowledge = ReadonlyMap<number, KnownGroup>;

export const NOTHING_KNOWN: Knowledge = new Map();

/** A group is gone when so many lists in a row do not have it: one that misses it may be a fault of the service. */
const LISTS_TO_BE_GONE = 2;

export function afterList(known: Knowledge, listed: readonly ListedGroup[]): Knowledge {
  const next = new Map<number, KnownGroup>();
  for (const [id, group] of known) {
    if (group.missed + 1 < LISTS_TO_BE_GONE) next.set(id, { ...group, missed: group.missed + 1 });
  }
  for (const { id, endpoint_name } of listed) {
    next.set(id, { endpoint: endpoint_name ?? known.get(id)?.endpoint, missed: 0 });
  }
  return next;
}

/** Ids, ascending. Those that are wanted by id need no list. */
export function followedGroups(wanted: readonly WantedGroup[], known: Knowledge): readonly number[] {
  const ids = new Set(wanted.flatMap((one) => (one.by === 'id' ? [one.id] : [])));
  for (const [id, { endpoint }] of known) {
    if (wanted.some((one) => one.by === 'all' || (one.by === 'endpoint' && one.name === endpoint)))
      ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}

/** Endpoints that are wanted and that no known group serves. */
export function unservedEndpoints(wanted: readonly WantedGroup[], known: Knowledge): readonly string[] {
  const served = new Set(Array.from(known.values(), ({ endpoint }) => endpoint));
  return wanted.flatMap((one) => (one.by === 'endpoint' && !served.has(one.name) ? [one.name] : []));
}
