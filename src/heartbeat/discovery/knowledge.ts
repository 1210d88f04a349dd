/**
 * What the service has told of the deployments that are wanted, pure. What it does not say is doubted: a field that is
 * missing once, and a deployment that is missing from a list, stay as they were. What it says is taken at once, unless
 * fewer heartbeats would follow: another name than the one by which it is wanted, a longer TTL or none, that it is
 * stopped. A heartbeat too many costs nothing, one too few the deployment.
 */
import { DEFAULT_TAG, type Deployment } from '../../contract/operations/serverless/deployment.ts';
import type { Wanted } from './wanted.ts';

/** What answers say that would end the heartbeats of a deployment: how many in a row, and when the first of them came. */
interface Doubt {
  readonly answers: number;
  readonly since: number;
}

export interface Known {
  readonly id: number;
  /** undefined: never told. */
  readonly name: string | undefined;
  readonly tag: string;
  /** ms; null: it lives until it is deleted; undefined: never told, or nothing that could be meant. */
  readonly ttl: number | null | undefined;
  readonly stopped: boolean;
  /** Lists that did not have it; undefined while they have it. */
  readonly missing: Doubt | undefined;
  /** Answers that gave it another name or tag, by which it is not wanted; `name` and `tag` stay meanwhile. */
  readonly renamed: Doubt | undefined;
  /** Answers by which fewer heartbeats would do; `ttl` and `stopped` stay meanwhile. */
  readonly eased: Doubt | undefined;
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

/** What so many answers say over so long is believed: one that is missing is asked for by itself, another name counts. */
const DOUBTED_MS = 60_000;
const DOUBTED_ANSWERS = 2;

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
    const known = learn(deployments.get(row.id), row, isWanted, now);
    if (known !== undefined) learned.set(row.id, { ...known, missing: undefined });
  }
  const inList = new Set(rows.map(({ id }) => id));
  for (const known of deployments.values()) {
    if (inList.has(known.id) || !isWanted(known)) continue;
    learned.set(known.id, { ...known, missing: again(known.missing, now) });
  }
  return { listed: true, deployments: learned };
}

/** The service was asked for one deployment, and told of it. */
export function learnOne(knowledge: Knowledge, row: Told, wanted: readonly Wanted[], now: number): Knowledge {
  const deployments = new Map(knowledge.deployments);
  const known = learn(deployments.get(row.id), row, wantedBy(wanted), now);
  if (known === undefined) deployments.delete(row.id);
  else deployments.set(row.id, known);
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
  return isLasting(missing, now);
}

function isLasting(doubt: Doubt | undefined, now: number): boolean {
  return doubt !== undefined && doubt.answers >= DOUBTED_ANSWERS && now - doubt.since >= DOUBTED_MS;
}

function again(doubt: Doubt | undefined, now: number): Doubt {
  const { answers, since } = doubt ?? { answers: 0, since: now };
  return { answers: answers + 1, since };
}

/** What is known after an answer that has it; undefined: it is not wanted, or not any more. */
function learn(
  before: Known | undefined,
  row: Told,
  isWanted: (known: Pick<Known, 'id' | 'name' | 'tag'>) => boolean,
  now: number,
): Known | undefined {
  const known = doubtEase(before, merge(before, row), now);
  if (isWanted(known)) return known;
  if (before === undefined || !isWanted(before)) return undefined;
  const renamed = again(before.renamed, now);
  return isLasting(renamed, now) ? undefined : { ...known, name: before.name, tag: before.tag, renamed };
}

function merge(before: Known | undefined, row: Told): Known {
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
    renamed: undefined,
    eased: undefined,
    gone: false,
  };
}

/** Nothing to doubt is what is known of it first, and what asks for more heartbeats. */
function doubtEase(before: Known | undefined, known: Known, now: number): Known {
  if (before === undefined) return known;
  const isLonger = isLongerThan(before.ttl, known.ttl);
  if (!isLonger && (before.stopped || !known.stopped)) return known;
  const eased = again(before.eased, now);
  if (isLasting(eased, now)) return known;
  const ttl = isLonger ? before.ttl : known.ttl;
  return { ...known, ttl, stopped: before.stopped && known.stopped, eased };
}

function isLongerThan(before: Known['ttl'], ttl: Known['ttl']): boolean {
  return typeof before === 'number' && (ttl ?? Infinity) > before;
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
