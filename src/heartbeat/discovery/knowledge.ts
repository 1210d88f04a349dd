/**
 * What the service has said about the wanted deployments, pure. An answer that calls for more heartbeats
 * counts at once. An answer that calls for fewer counts when answers have said so for a minute: another name,
 * a longer TTL, stopped, missing. A heartbeat too many costs nothing, one too few the deployment.
 */
import { DEFAULT_TAG, type Deployment } from '../../contract/operations/serverless/deployment.ts';
import type { Identity, Selection } from './wanted.ts';

export interface Known extends Identity {
  /** ms; null: it does not expire; undefined: the service never said. */
  readonly ttl: number | null | undefined;
  readonly stopped: boolean;
  /** Since when answers have called for fewer heartbeats, monotonic ms. */
  readonly easedSince: number | undefined;
  readonly missingSince: number | undefined;
  /** It is doubted, and the service itself says that it does not exist. */
  readonly gone: boolean;
}

export interface DeploymentKnowledge {
  readonly listed: boolean;
  readonly deployments: ReadonlyMap<number, Known>;
}

export const NOTHING_KNOWN: DeploymentKnowledge = { listed: false, deployments: new Map() };

export type Told = Pick<Deployment, 'id'> &
  Partial<Pick<Deployment, 'name' | 'tag' | 'ttl' | 'endpoint_state'>>;

const BELIEVED_AFTER_MS = 60_000;

export function learnList(
  { deployments }: DeploymentKnowledge,
  rows: readonly Told[],
  selection: Selection,
  now: number,
): DeploymentKnowledge {
  const learned = new Map<number, Known>();
  for (const row of rows) {
    const known = learn(deployments.get(row.id), row, selection, now);
    if (known) learned.set(row.id, { ...known, missingSince: undefined });
  }
  const listed = new Set(rows.map(({ id }) => id));
  for (const known of deployments.values()) {
    if (listed.has(known.id) || !selection.has(known)) continue;
    // Otherwise all that a name ever had would be back once the last of them is gone.
    if (known.gone && isReplaced(known, { listed: true, deployments: learned })) continue;
    learned.set(known.id, { ...known, missingSince: known.missingSince ?? now });
  }
  return { listed: true, deployments: learned };
}

export function learnOne(
  knowledge: DeploymentKnowledge,
  row: Told,
  selection: Selection,
  now: number,
): DeploymentKnowledge {
  const deployments = new Map(knowledge.deployments);
  const known = learn(deployments.get(row.id), row, selection, now);
  if (known) deployments.set(row.id, known);
  else deployments.delete(row.id);
  return { ...knowledge, deployments };
}

/** Counts if lists have missed it for a while, or if the last one gives its name to a newer deployment. */
export function learnGone(knowledge: DeploymentKnowledge, id: number, now: number): DeploymentKnowledge {
  const known = knowledge.deployments.get(id);
  if (!known || !(isDoubted(known, now) || isReplaced(known, knowledge))) return knowledge;
  return { ...knowledge, deployments: new Map(knowledge.deployments).set(id, { ...known, gone: true }) };
}

function isReplaced({ id, name, tag, missingSince }: Known, { deployments }: DeploymentKnowledge): boolean {
  if (missingSince === undefined) return false;
  const others = [...deployments.values()].filter((other) => other.name === name && other.tag === tag);
  return others.some((other) => other.id > id && !other.gone && other.missingSince === undefined);
}

export function isDoubted({ missingSince }: Known, now: number): boolean {
  return missingSince !== undefined && now - missingSince >= BELIEVED_AFTER_MS;
}

function learn(before: Known | undefined, row: Told, selection: Selection, now: number): Known | undefined {
  const told = merge(before, row);
  const isWanted = selection.has(told);
  if (before === undefined || !selection.has(before)) return isWanted ? told : undefined;
  const isLonger = typeof before.ttl === 'number' && (told.ttl ?? Infinity) > before.ttl;
  if (isWanted && !isLonger && (before.stopped || !told.stopped)) return told;
  const easedSince = before.easedSince ?? now;
  if (now - easedSince >= BELIEVED_AFTER_MS) return isWanted ? told : undefined;
  // Each field that calls for more counts at once.
  const { name, tag } = isWanted ? told : before;
  const ttl = isLonger ? before.ttl : told.ttl;
  return { ...told, name, tag, ttl, stopped: before.stopped && told.stopped, easedSince };
}

/** Absent, null and impossible fields stay as they were. */
function merge(before: Known | undefined, row: Told): Known {
  const named = row.name ?? undefined;
  const state = row.endpoint_state ?? undefined;
  return {
    id: row.id,
    name: named ?? before?.name,
    // A name without a tag has the default one.
    tag: named === undefined ? (before?.tag ?? DEFAULT_TAG) : row.tag || DEFAULT_TAG,
    ttl: row.ttl === null ? null : (readTtl(row.ttl) ?? before?.ttl),
    stopped: state === undefined ? (before?.stopped ?? false) : state.trim().toLowerCase() === 'stopped',
    easedSince: undefined,
    missingSince: before?.missingSince,
    gone: false,
  };
}

function readTtl(seconds: unknown): number | undefined {
  const ms = typeof seconds === 'number' ? seconds * 1000 : Number.NaN;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
