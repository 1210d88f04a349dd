/** Wanted deployments and what is known of them → which to keep alive, and with which timing. Pure. */
import type { DeploymentChoice } from '../driver/driver.ts';
import { checkTiming, MIN_SPACING, type IntervalChoice, type TimingChoice } from '../engine/formulas.ts';
import type { Finding } from './findings.ts';
import type { Known, Knowledge } from './knowledge.ts';
import { labelOf, Selection, type Wanted } from './wanted.ts';

export interface TimingSettings {
  /** For deployments to which no TTL was given, ms. */
  readonly deploymentTtl: number | undefined;
  readonly heartbeatInterval: IntervalChoice;
}

export interface Choice extends DeploymentChoice {
  /** By which it is configured, with the tag if that is given: `square`, `square/blue`; undefined if it is by its id. */
  readonly name: string | undefined;
  /** As the service says it; undefined: it never did. */
  readonly tag: string | undefined;
}

/** Each deployment once, however often it is wanted. If it is wanted by its id, no list can end its heartbeats. */
export function resolve(
  wanted: readonly Wanted[],
  knowledge: Knowledge,
  settings: TimingSettings,
): {
  /** In the order in which they are wanted, those of one name by id. */
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

/** Those of the name that exist; if none does, those that did, since the service may be wrong about them. */
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
  // No heartbeat leaves sooner after another, so a shorter TTL can be timed no better.
  return { ttl: Math.max(ttl, MIN_SPACING), interval: chosen };
}

function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
