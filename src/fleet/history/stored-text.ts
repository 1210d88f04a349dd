/** What is stored besides rows, as text. Pure, but for base64, which is Node's. */
import { isRecord } from '../../contract/is-record.ts';
import type { WorkerLife } from '../workers/lives.ts';
import type { StepRow } from './fold.ts';
import { packed, unpacked } from './packed-row.ts';
import type { EndpointState, StartRecord, StoredEndpoint } from './store.ts';

interface StoredEndpointState {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly open: readonly (readonly [fromMs: number, lengthMs: number, packed: string])[];
}

export function endpointText({ sinceMs, lastMs, open }: EndpointState): string {
  const stored: StoredEndpointState = {
    sinceMs,
    lastMs,
    open: open.map((row) => [row.fromMs, row.lengthMs, base64Row(row)]),
  };
  return JSON.stringify(stored);
}

/** @throws SyntaxError */
export function endpointFrom(label: string, text: string): EndpointState {
  const stored: unknown = JSON.parse(text);
  if (!isEndpointState(stored)) throw new SyntaxError('what is stored of an endpoint is none');
  const { sinceMs, lastMs, open } = stored;
  return {
    label,
    sinceMs,
    lastMs,
    open: open.map(([fromMs, lengthMs, body]) => rowFromBase64(body, fromMs, lengthMs)),
  };
}

/** @throws SyntaxError */
export function knownFrom(text: string): StoredEndpoint[] {
  const stored: unknown = JSON.parse(text);
  if (!Array.isArray(stored) || !stored.every(isKnown))
    throw new SyntaxError('what is stored of names is none');
  return stored;
}

/** Of workers what can be read: the others are seen again at the next look, as new ones. */
export function livesFrom(texts: readonly string[]): WorkerLife[] {
  return readable(texts, (value) => (isLife(value) ? value : undefined));
}

/** Of starts what can be read: they are counted, and one more or less tells nothing. */
export function startsFrom(texts: readonly string[]): StartRecord[] {
  return readable(texts, (value) => (isStart(value) ? value : undefined));
}

export function isStart(value: unknown): value is StartRecord {
  if (!isRecord(value)) return false;
  const { endpoint, atMs, from, seconds, perf = 0 } = value;
  return isText(endpoint) && ORIGINS.has(from) && [atMs, seconds, perf].every(Number.isFinite);
}

function readable<One>(texts: readonly string[], oneFrom: (value: unknown) => One | undefined): One[] {
  return texts.flatMap((text) => {
    try {
      return oneFrom(JSON.parse(text)) ?? [];
    } catch {
      return [];
    }
  });
}

const ORIGINS: ReadonlySet<unknown> = new Set(['new', 'cold']);

function isEndpointState(value: unknown): value is StoredEndpointState {
  if (!isRecord(value) || !Array.isArray(value['open'])) return false;
  const isOpen = (row: unknown): boolean =>
    Array.isArray(row) && Number.isFinite(row[0]) && Number.isFinite(row[1]) && isText(row[2]);
  return [value['sinceMs'], value['lastMs']].every(Number.isFinite) && value['open'].every(isOpen);
}

function isKnown(value: unknown): value is StoredEndpoint {
  if (!isRecord(value)) return false;
  const { id, name = '', label } = value;
  return Number.isFinite(id) && isText(name) && isText(label);
}

function isLife(value: unknown): value is WorkerLife {
  if (!isRecord(value)) return false;
  const { id, endpoint, firstSeenMs, changes, start, perf = 0, missed, missingSinceMs = 0 } = value;
  if (!isText(endpoint) || ![id, firstSeenMs, perf, missed, missingSinceMs].every(Number.isFinite))
    return false;
  if (!Array.isArray(changes) || changes.length === 0) return false;
  const isStep = (step: unknown): boolean =>
    Array.isArray(step) && isText(step[0]) && Number.isFinite(step[1]);
  const isBeginning =
    start === undefined ||
    (isRecord(start) && ORIGINS.has(start['from']) && Number.isFinite(start['sinceMs']));
  return isBeginning && changes.every(isStep);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function base64Row(row: StepRow): string {
  return Buffer.from(packed(row)).toString('base64');
}

/** @throws SyntaxError */
export function rowFromBase64(text: string, fromMs: number, lengthMs: number): StepRow {
  return unpacked(Buffer.from(text, 'base64'), fromMs, lengthMs);
}
