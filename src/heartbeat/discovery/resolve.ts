/** Which of the wanted deployments to keep alive, and with which timing. Pure. */
import type { DeploymentChoice } from '../driver/driver.ts';
import { checkTiming, type IntervalChoice, MIN_SPACING, type TimingChoice } from '../engine/formulas.ts';
import type { DeploymentKnowledge, Known } from './knowledge.ts';
import { labelOf, Selection, type Wanted } from './wanted.ts';

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
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
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
    const matches = matching(one.tag, byName.get(one.name) ?? []);
    if (matches.length > 0) findings.push({ type: 'matched', label, ids: matches.map(({ id }) => id) });
    else if (knowledge.listed) findings.push({ type: 'unmatched', label });
    for (const { id, stopped } of matches) {
      if (one.tag !== undefined) names.set(id, `${one.name}/${one.tag}`);
      else if (!names.has(id)) names.set(id, one.name);
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
  return { choices, findings };
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

/** A finding that came back is not reported again within this time, ms. */
const REPORT_AGAIN_MS = 10 * 60_000;
/** Deployments may not be kept alive: this is reported again while it lasts, ms. */
const REMIND: ReadonlySet<FindingType> = new Set(['unmatched', 'no-list', 'unanswered']);
const REMIND_EVERY_MS = 60_000;

export class FindingReports {
  readonly #reportedAt = new Map<string, number>();

  newOf(findings: readonly Finding[], now: number): DiscoveryNotice[] {
    const current = new Map(findings.map((finding) => [keyOf(finding), finding]));
    for (const [key, at] of this.#reportedAt)
      if (!current.has(key) && now - at >= REPORT_AGAIN_MS) this.#reportedAt.delete(key);
    const fresh = [...current].flatMap(([key, finding]) => {
      const at = this.#reportedAt.get(key);
      if (at !== undefined && !(REMIND.has(finding.type) && now - at >= REMIND_EVERY_MS)) return [];
      this.#reportedAt.set(key, now);
      return [finding];
    });
    return [...Map.groupBy(fresh, ({ type }) => type)].map(
      ([type, found]) => ({ type, found }) as DiscoveryNotice,
    );
  }
}

/** The reason may change from one attempt to the next, which is not a new finding. */
function keyOf(finding: Finding): string {
  return finding.type === 'unanswered' ? `unanswered ${finding.question}` : JSON.stringify(finding);
}
