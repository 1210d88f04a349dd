/** Learns from answers how the service behaves. Pure. Keeps only words of the list of assumptions. */
import type { AnswerEvent } from '../client/caller.ts';
import { ThrottledError } from '../client/errors.ts';
import {
  ASSUMPTION_IDS,
  assumptionOf,
  type AssumptionId,
  type AssumptionOutcome,
} from '../contract/assumptions.ts';
import { isRecord, parseJsonOr } from '../contract/is-record.ts';
import { readText, recogniseAnswer } from '../logs/answer.ts';
import { contradicts, PROBE_TAIL, unitOfProbe } from '../logs/follower/pace.ts';

export type Traits = Readonly<Partial<Record<AssumptionId, string>>>;

export interface LearnedTraits {
  readonly traits: Traits;
  /** Logs that were long when last read: a short question to one shows the unit of `tail`. */
  readonly longTexts: ReadonlySet<string>;
}

export const NOTHING_LEARNED: LearnedTraits = { traits: {}, longTexts: new Set() };

/** What an answer tells. The heart reports its own without input and value. */
export type ObservedAnswer = Omit<AnswerEvent, 'durationMs' | 'serverDate' | 'input'> &
  Partial<Pick<AnswerEvent, 'input'>>;

type Facts = readonly (readonly [id: AssumptionId, value: string])[];

/** The later one outranks: a refusal proves a limit. Elsewhere the last answer counts. */
const RANKS: Partial<Record<AssumptionId, readonly string[]>> = {
  rate_limit: ['unseen', 'shown', 'refused'],
  expired_deployment: ['as_unknown', 'own_words'],
};
/** Refused to a key without a second factor. */
const READS: ReadonlySet<string> = new Set([
  'deployments.list',
  'endpointGroups.list',
  'instances.list',
  'instances.page',
  'users.current',
  'workergroups.list',
]);
const OPTIONAL: Readonly<Record<string, AssumptionId>> = {
  'deployments.list': 'deployments_list',
  'instances.page': 'instances_v1',
  'serverless.endpointsSpend': 'spend',
};
const MOST_TEXTS = 1_000;
/** So long a text shows the unit, characters. */
const LONG_TEXT = 1_000;

export function learn(knowledge: LearnedTraits, seen: ObservedAnswer): LearnedTraits {
  const facts = [...rateFacts(seen), ...keyFacts(seen), ...listFacts(seen), ...deploymentFacts(seen)];
  const { traits, longTexts } = learnLog(knowledge, seen);
  return { traits: withNews(traits, Object.fromEntries(facts)), longTexts };
}

/** The same object if nothing is new. */
export function withNews(traits: Traits, news: Traits): Traits {
  const changed = (Object.keys(news) as AssumptionId[]).filter((id) => {
    const ranks = RANKS[id] ?? [];
    const isOutranked = ranks.indexOf(String(news[id])) < ranks.indexOf(String(traits[id]));
    return traits[id] !== news[id] && !isOutranked;
  });
  if (changed.length === 0) return traits;
  return { ...traits, ...Object.fromEntries(changed.map((id) => [id, news[id]])) };
}

/** A bare text with status 200 is a refusal. */
function isSuccess({ code, refusal }: ObservedAnswer): boolean {
  return code.startsWith('2') && refusal === undefined;
}

function rateFacts({ code, rate, refusal, error }: ObservedAnswer): Facts {
  if (!/^\d/.test(code)) return [];
  if (refusal !== 'throttled') return [['rate_limit', rate === undefined ? 'unseen' : 'shown']];
  const shape: Facts = error instanceof ThrottledError ? [['throttled_shape', throttledShape(error)]] : [];
  return [['rate_limit', 'refused'], ...shape];
}

/** Only headers say when the bucket is reset. The captured shape, `json`, has them. */
function throttledShape(error: ThrottledError): string {
  const hasHeaders = error.rate?.resetMs !== undefined;
  const body = parseJsonOr(error.rawAnswer());
  if (isRecord(body) && 'retry_after' in body) return hasHeaders ? 'json' : 'json_without_headers';
  const shape = isRecord(body) ? ('detail' in body ? 'detail' : 'error') : 'plain';
  return hasHeaders ? `${shape}_with_headers` : shape;
}

function keyFacts(seen: ObservedAnswer): Facts {
  if (seen.refusal === 'second-factor') return [['tfa_key', 'refused']];
  return isSuccess(seen) && READS.has(seen.operation) ? [['tfa_key', 'taken']] : [];
}

function listFacts(seen: ObservedAnswer): Facts {
  const { operation, code, refusal } = seen;
  if (operation === 'instances.list')
    return isSuccess(seen) ? [['instances_v0', 'answers']] : code === '410' ? [['instances_v0', '410']] : [];
  const id = OPTIONAL[operation];
  if (id === undefined) return [];
  if (isSuccess(seen)) return [[id, 'answers']];
  // 404 is also said of a refused key, and a gateway says it of everything unknown.
  const isUnknown = (code === '404' && refusal === 'not-found') || code === '405' || code === '501';
  return isUnknown ? [[id, 'unknown']] : [];
}

function deploymentFacts({ operation, refusal, value }: ObservedAnswer): Facts {
  if (!operation.startsWith('deployments.')) return [];
  if (refusal === 'expired') return [['expired_deployment', 'own_words']];
  const { deployments: rows }: Readonly<Record<string, unknown>> = isRecord(value) ? value : {};
  if (!Array.isArray(rows) || rows.length === 0) return [];
  const ttls = rows.map((row: unknown) => (isRecord(row) ? row['ttl'] : undefined));
  if (ttls.some((ttl) => typeof ttl === 'number')) return [['deployment_ttl', 'seconds']];
  return [['deployment_ttl', ttls.includes(null) ? 'none' : 'absent']];
}

/** 64 units of a text that was long before: so many bytes, or more in lines. */
function learnLog(knowledge: LearnedTraits, { operation, input = {}, value }: ObservedAnswer): LearnedTraits {
  const { traits, longTexts } = knowledge;
  const { id, tail } = input;
  if (!operation.endsWith('.logs') || value === undefined || typeof tail !== 'number') return knowledge;
  const answer = recogniseAnswer(200, value);
  if (answer.kind === 'error') return knowledge;
  const levels = answer.kind === 'levels' ? answer.levels : { '': answer.text };
  const texts = Object.entries(levels).map(([level, body]) => ({
    name: `${operation} ${String(id)} ${level}`,
    body,
  }));
  const isProbe = tail === PROBE_TAIL;
  const isLines =
    traits.tail_unit !== 'lines' &&
    texts.some(({ body }) => body.length > 2 * tail && contradicts(readText(body), tail, 'bytes'));
  const isOfBytes = (probed: string): boolean => unitOfProbe(readText(probed)) === 'bytes';
  const isBytes = isProbe && texts.some(({ name, body }) => longTexts.has(name) && isOfBytes(body));
  const unit = isLines ? 'lines' : isBytes ? 'bytes' : undefined;
  const after = new Set(longTexts.size < MOST_TEXTS ? longTexts : []);
  if (!isProbe) for (const { name, body } of texts) after[body.length > LONG_TEXT ? 'add' : 'delete'](name);
  const news = { log_shape: answer.kind, ...(unit !== undefined && { tail_unit: unit }) };
  return { traits: withNews(traits, news), longTexts: after };
}

interface KnownFinding extends AssumptionOutcome {
  readonly trait: AssumptionId;
  readonly value: string;
}

export function findingsOf(traits: Traits) {
  return ASSUMPTION_IDS.map((trait) => {
    const open = { trait, verdict: 'unknown', says: assumptionOf(trait).unknown } as const;
    return knownFinding(traits, trait) ?? open;
  });
}

export function knownFindings(traits: Traits): KnownFinding[] {
  return ASSUMPTION_IDS.flatMap((trait) => knownFinding(traits, trait) ?? []);
}

/** A file of another version may have a value that is unknown here. */
function knownFinding(traits: Traits, trait: AssumptionId): KnownFinding | undefined {
  const { outcomes } = assumptionOf(trait);
  const value = traits[trait] ?? '';
  const outcome = Object.hasOwn(outcomes, value) ? outcomes[value] : undefined;
  return outcome && { trait, value, ...outcome };
}
