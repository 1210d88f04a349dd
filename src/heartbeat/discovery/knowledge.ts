/**
 * What the service has told of the deployments that are wanted, pure. What it says is taken at once; what it does
 * not say is doubted: a field that is missing once, and a deployment that is missing from a list, stay as they were.
 */
import { DEFAULT_TAG, type Deployment } from '../../contract/operations/serverless/deployment.ts';
import type { Wanted } from './wanted.ts';

export interface Known {
  readonly id: number;
  /** undefined: never told. */
  readonly name: string | undefined;
  readonly tag: string;
  /** ms; null: it lives until it is deleted; undefined: never told, or nothing that could be meant. */
  readonly ttl: number | null | undefined;
  readonly stopped: boolean;
  /** Lists in a row that did not have it, and when the first of them came; undefined while they have it. */
  readonly missing: { readonly lists: number; readonly since: number } | undefined;
  /** It is missing from the lists, and the service itself says that it is no more. */
  readonly gone: boolean;
}

export interface Knowledge {
  /** Whether a list has ever come. */
  readonly listed: boolean;
  /** Those that are wanted, by id. */
  readonly deployments: ReadonlyMap<number, Known>;
}

export const NOTHING_KNOWN: Knowledge = { listed: false, deployments: new Map() };

/** A deployment as any answer tells of it; all but the id may be missing. */
export type Told = Pick<Deployment, 'id'> &
  Partial<Pick<Deployment, 'name' | 'tag' | 'ttl' | 'endpoint_state'>>;

/** Missing for so long, and from so many lists, a deployment is asked for by itself. */
const DOUBTED_MS = 60_000;
const DOUBTED_LISTS = 2;

/** A list came, at a monotonic time in ms. */
export function learnList(
  { deployments }: Knowledge,
  rows: readonly Told[],
  wanted: readonly Wanted[],
  now: number,
): Knowledge {
  const isWanted = wantedBy(wanted);
  const learned = new Map<number, Known>();
  for (const row of rows) {
    const known = { ...merge(deployments.get(row.id), row), missing: undefined, gone: false };
    if (isWanted(known)) learned.set(row.id, known);
  }
  const inList = new Set(rows.map(({ id }) => id));
  for (const known of deployments.values()) {
    if (inList.has(known.id) || !isWanted(known)) continue;
    const { lists, since } = known.missing ?? { lists: 0, since: now };
    learned.set(known.id, { ...known, missing: { lists: lists + 1, since } });
  }
  return { listed: true, deployments: learned };
}

/** The service was asked for one deployment, and told of it. */
export function learnOne(knowledge: Knowledge, row: Told, wanted: readonly Wanted[]): Knowledge {
  const deployments = new Map(knowledge.deployments);
  const known = { ...merge(deployments.get(row.id), row), gone: false };
  if (wantedBy(wanted)(known)) deployments.set(row.id, known);
  else deployments.delete(row.id);
  return { ...knowledge, deployments };
}

/** The service itself says that there is no such deployment. It counts for one that the lists miss too. */
export function learnGone(knowledge: Knowledge, id: number, now: number): Knowledge {
  const known = knowledge.deployments.get(id);
  if (known === undefined || !isDoubted(known, now)) return knowledge;
  const deployments = new Map(knowledge.deployments);
  deployments.set(id, { ...known, gone: true });
  return { ...knowledge, deployments };
}

/** Whether lists have missed it for long enough to ask for it by itself. */
export function isDoubted({ missing }: Known, now: number): boolean {
  return missing !== undefined && missing.lists >= DOUBTED_LISTS && now - missing.since >= DOUBTED_MS;
}

function merge(before: Known | undefined, row: Told): Omit<Known, 'gone'> {
  const named = row.name ?? undefined;
  const state = row.endpoint_state ?? undefined;
  return {
    id: row.id,
    name: named ?? before?.name,
    // A name comes with its tag, and without one with the default.
    tag: named === undefined ? (before?.tag ?? DEFAULT_TAG) : row.tag || DEFAULT_TAG,
    ttl: row.ttl === null ? null : (readTtl(row.ttl) ?? before?.ttl),
    stopped: state === undefined ? (before?.stopped ?? false) : state.trim().toLowerCase() === 'stopped',
    missing: before?.missing,
  };
}

/** Seconds → ms; undefined for what no TTL can be. */
function readTtl(seconds: unknown): number | undefined {
  const ms = typeof seconds === 'number' ? seconds * 1000 : Number.NaN;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

function wantedBy(wanted: readonly Wanted[]): (known: Pick<Known, 'id' | 'name' | 'tag'>) => boolean {
  const ids = new Set(wanted.flatMap((one) => (one.by === 'id' ? [one.id] : [])));
  const names = new Map<string, Set<string | undefined>>();
  for (const one of wanted) {
    if (one.by === 'name') names.set(one.name, (names.get(one.name) ?? new Set()).add(one.tag));
  }
  return ({ id, name, tag }) => {
    const tags = name === undefined ? undefined : names.get(name);
    return ids.has(id) || (tags !== undefined && (tags.has(undefined) || tags.has(tag)));
  };
}
