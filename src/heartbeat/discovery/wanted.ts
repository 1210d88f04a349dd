/**
 * Which deployments a user wants kept alive, what the service has said about them, and what follows from both. Pure.
 * An answer that calls for more heartbeats counts at once. An answer that calls for fewer counts when answers have said
 * so for a minute: another name, a longer TTL, stopped, missing. A heartbeat too many costs nothing, one too few the
 * deployment.
 */
import * as z from 'zod';
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { DEFAULT_TAG, type Deployment } from '../../contract/operations/serverless/serverless.ts';
import type { DeploymentChoice } from '../driver/driver.ts';
import { checkTiming, MIN_SPACING, type IntervalChoice, type TimingChoice } from '../engine/formulas.ts';

export type Wanted = {
  readonly ttlMs: number | undefined;
} & (
  | { readonly by: 'id'; readonly id: number }
  /** `tag` undefined: any. A name outlives an id. */
  | { readonly by: 'name'; readonly name: string; readonly tag: string | undefined }
);

/** As DEPLOYMENTS has it, without the TTL: `42`, `name:square`, `name:square/blue`. */
export function labelOf(wanted: Wanted): string {
  if (wanted.by === 'id') return String(wanted.id);
  return wanted.tag === undefined ? `name:${wanted.name}` : `name:${wanted.name}/${wanted.tag}`;
}

export interface Identity {
  readonly id: number;
  readonly name: string | undefined;
  readonly tag: string;
}

export class Selection {
  readonly ids: ReadonlySet<number>;
  readonly #tags = new Map<string, Set<string | undefined>>();

  constructor(wanted: readonly Wanted[]) {
    this.ids = new Set(wanted.flatMap((one) => (one.by === 'id' ? [one.id] : [])));
    for (const one of wanted) {
      if (one.by === 'name') this.#tags.set(one.name, (this.#tags.get(one.name) ?? new Set()).add(one.tag));
    }
  }

  has({ id, name, tag }: Identity): boolean {
    const tags = name === undefined ? undefined : this.#tags.get(name);
    return this.ids.has(id) || (tags !== undefined && (tags.has(undefined) || tags.has(tag)));
  }

  hasName(name: string): boolean {
    return this.#tags.has(name);
  }
}

export function listOf(list: Operation, relevant: (body: unknown) => unknown): Operation {
  return { ...list, response: z.preprocess(relevant, list.response) };
}

/** Checking tens of thousands of rows by their schema would take seconds, in which no heartbeat leaves. */
export function relevantRows(
  body: unknown,
  selection: Selection,
  known: Pick<ReadonlySet<number>, 'has'>,
): unknown {
  if (!isRecord(body) || !Array.isArray(body['deployments'])) return body;
  const rows: readonly unknown[] = body['deployments'];
  const relevant = rows
    .filter((row) => isRecord(row))
    .filter(({ id, name }) => {
      const number = Number(id);
      return selection.ids.has(number) || known.has(number) || selection.hasName(String(name));
    })
    .map(({ id, name, tag, ttl, endpoint_state }) => ({ id, name, tag, ttl, endpoint_state }));
  // If no row can be read, the schema has to see one to refuse it.
  return { ...body, deployments: relevant.length > 0 ? relevant : rows.slice(0, 1) };
}

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
    if (known.gone && isReplaced(known, learned)) continue;
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
  if (!known || !(isDoubted(known, now) || isReplaced(known, knowledge.deployments))) return knowledge;
  return { ...knowledge, deployments: new Map(knowledge.deployments).set(id, { ...known, gone: true }) };
}

function isReplaced(
  { id, name, tag, missingSince }: Known,
  deployments: DeploymentKnowledge['deployments'],
): boolean {
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

/** Absent, null and impossible fields stay as they were. A TTL of null is a value: it does not expire. */
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

export interface TimingSettings {
  /** For deployments without a TTL of their own, ms. */
  readonly deploymentTtl: number | undefined;
  readonly heartbeatInterval: IntervalChoice;
}

export interface Choice extends DeploymentChoice {
  /** By which it is configured: `square`, `square/blue`; undefined if it is by its id. */
  readonly name: string | undefined;
  readonly tag: string | undefined;
}

/** Each deployment once. No list can end the heartbeats of a deployment that is wanted by its id. */
export function resolve(
  wanted: readonly Wanted[],
  knowledge: DeploymentKnowledge,
  settings: TimingSettings,
): {
  readonly choices: readonly Choice[];
  /** Names without a known deployment: `square`, `square/blue`. */
  readonly missing: readonly string[];
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
  const missing: string[] = [];
  const given = new Map<number, number | undefined>();
  const want = (id: number, ttlMs: number | undefined): unknown =>
    given.set(id, shorter(given.get(id), ttlMs));
  const names = new Map<number, string>();
  const { ids } = new Selection(wanted);
  const byName = Map.groupBy(knowledge.deployments.values(), ({ name }) => name);
  for (const one of wanted) {
    if (one.by === 'id') {
      want(one.id, one.ttlMs);
      continue;
    }
    const label = labelOf(one);
    const fullName = one.tag === undefined ? one.name : `${one.name}/${one.tag}`;
    const matches = matching(one.tag, byName.get(one.name) ?? []);
    if (matches.length > 0) findings.push({ type: 'matched', label, ids: matches.map(({ id }) => id) });
    else missing.push(fullName);
    if (matches.length === 0 && knowledge.listed) findings.push({ type: 'unmatched', label });
    for (const { id, stopped } of matches) {
      if (one.tag !== undefined || !names.has(id)) names.set(id, fullName);
      if (!stopped || ids.has(id)) want(id, one.ttlMs);
      else findings.push({ type: 'stopped', id, label });
    }
  }
  const choices = [...given].map(([id, ttlMs = settings.deploymentTtl]) => {
    const { ttl: learned, tag } = knowledge.deployments.get(id) ?? {};
    const times = { id, given: ttlMs, learned, interval: settings.heartbeatInterval };
    const { ttl, interval } = timingOf(times, findings);
    return { id, ttl, interval, name: names.get(id), tag };
  });
  return { choices, missing, findings };
}

/** Those of the name that exist; if none does, those that did: the service may be wrong. */
function matching(tag: string | undefined, ofName: readonly Known[]): Known[] {
  const matches = ofName.filter((known) => tag === undefined || known.tag === tag);
  const living = matches.filter(({ gone }) => !gone);
  return (living.length > 0 ? living : matches).toSorted((a, b) => a.id - b.id);
}

interface Times {
  readonly id: number;
  readonly given: number | undefined;
  readonly learned: Known['ttl'];
  readonly interval: IntervalChoice;
}

function timingOf({ id, given, learned, interval }: Times, findings: Finding[]): TimingChoice {
  const ttl = shorter(given, learned ?? undefined);
  if (given !== undefined && learned !== undefined && learned !== given)
    findings.push({ type: 'ttl-differs', id, given, learned, used: ttl ?? given });
  const problem = checkTiming({ ttl, interval });
  const chosen = problem ? 'auto' : interval;
  if (ttl === undefined) return { ttl, interval: chosen };
  if (problem?.change === 'ttl')
    findings.push({ type: 'ttl-too-short', id, ttl, atLeast: problem.atLeast ?? ttl });
  else if (problem && interval !== 'auto')
    findings.push({ type: 'interval-too-long', id, ttl, interval, atMost: problem.atMost });
  // No two heartbeats are closer, so a shorter TTL can be timed no better.
  return { ttl: Math.max(ttl, MIN_SPACING), interval: chosen };
}

function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** What a person should know about the wanted deployments, by type. Times in ms. */
interface Facts {
  /** `learned` null: it does not expire. */
  'ttl-differs': { id: number; given: number; learned: number | null; used: number };
  'interval-too-long': { id: number; ttl: number; interval: number; atMost: number | undefined };
  'ttl-too-short': { id: number; ttl: number; atLeast: number };
  stopped: { id: number; label: string };
  matched: { label: string; ids: readonly number[] };
  unmatched: { label: string };
  'no-list': { label: string };
  unanswered: { question: 'list' | 'get'; reason: string };
}

export type FindingType = keyof Facts;
type FindingOf<T extends FindingType> = { readonly type: T } & Readonly<Facts[T]>;
export type Finding = { [T in FindingType]: FindingOf<T> }[FindingType];
/** New findings of one type make one line of a log. */
export type DiscoveryNotice = {
  [T in FindingType]: { readonly type: T; readonly found: readonly FindingOf<T>[] };
}[FindingType];
