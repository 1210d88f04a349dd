/** The latest requests, and questions about them. By an allow-list, it never stores a key or a code. */
import { EventEmitter, once } from 'node:events';
import * as z from 'zod';
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { OPERATION_IDS, type OperationId } from '../../contract/operations.ts';
import { secretPatterns } from '../../contract/text/redaction.ts';
import type { Call } from '../calls/call.ts';

/** A request that came, and what was answered. Keys and codes in it are redacted. */
export interface JournalEntry {
  /** Counts up by one per request, from 1. */
  readonly seq: number;
  /** Arrival, Unix ms on the emulator's clock. */
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** null for a path that leads nowhere. */
  readonly operation: OperationId | null;
  /** The id in the path, else the one in the body. */
  readonly id: number | null;
  /** Name of the API key; `unknown` for one that does not exist, null without one. */
  readonly key: string | null;
  readonly body: unknown;
  /** Ids of the faults that struck it. */
  readonly faults: readonly string[];
  /** Status of the answer; null while there is none, and for good where the connection broke first. */
  readonly status: number | null;
  /** Real time in ms from arrival to the answer, or to the end of the connection; null before it. */
  readonly durationMs: number | null;
}

const operationId = z.enum(OPERATION_IDS as [OperationId, ...OperationId[]]);

export const journalFilter = z.strictObject({
  operation: operationId.nullable().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
  id: z.int().nullable().optional(),
  key: z.string().nullable().optional().describe('name of the key'),
  status: z.int().nullable().optional(),
  body: z.unknown().optional().describe('fields that the redacted body must have; it may have more'),
  afterSeq: z.int().nonnegative().optional(),
});
/**
 * Which requests: all that fit every field that is given. `body`: has these fields, perhaps among others.
 * `afterSeq`: came after the request of this number.
 */
export type JournalFilter = z.output<typeof journalFilter>;

export const journalExpectation = journalFilter.extend({
  times: z.int().nonnegative().optional(),
  atLeast: z.int().nonnegative().optional(),
  atMost: z.int().nonnegative().optional(),
});
/** Which requests are expected, and how many: exactly `times`, `atLeast`, or `atMost`. */
export type JournalExpectation = z.output<typeof journalExpectation>;

function matches(entry: JournalEntry, filter: JournalFilter): boolean {
  const { body, afterSeq, ...fields } = filter;
  if (afterSeq !== undefined && entry.seq <= afterSeq) return false;
  for (const [name, wanted] of Object.entries(fields)) {
    if (wanted !== undefined && entry[name as keyof JournalEntry] !== wanted) return false;
  }
  return body === undefined || contains(entry.body, body);
}

function contains(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return actual === wanted;
  if (typeof actual !== 'object' || actual === null) return false;
  const isList = Array.isArray(wanted);
  if (isList && !(Array.isArray(actual) && actual.length === wanted.length)) return false;
  return Object.entries(wanted).every(([name, value]) =>
    contains((actual as Record<string, unknown>)[name], value),
  );
}

/** Whether an expectation holds, and in words what came. */
export interface Verification {
  readonly ok: boolean;
  readonly message: string;
}

/** Waits until `count` requests (default 1) are answered, or with `arrived` have come; until `signal` fires. */
export interface WaitOptions {
  readonly count?: number;
  readonly arrived?: boolean;
  readonly signal?: AbortSignal;
}

export interface OpenEntry {
  struck(faultId: string): void;
  /** null: the connection ended without a whole answer. */
  end(status: number | null): void;
}

type OwnEntry = { -readonly [K in keyof JournalEntry]: JournalEntry[K] };

/** What a test asks; the server alone begins an entry. */
export type Journal = Omit<RequestJournal, 'begin'>;

export class RequestJournal {
  readonly #secrets: () => Iterable<string>;
  readonly #limit: number;
  #entries: OwnEntry[] = [];
  #seq = 0;
  /** Tells that an entry came or was answered; any number may wait for it. */
  readonly #changes = new EventEmitter().setMaxListeners(0);

  /**
   * @param secrets asked at every request, since reset and restore change them
   * @param limit requests that are kept
   */
  constructor(secrets: () => Iterable<string>, limit = 10_000) {
    this.#secrets = secrets;
    this.#limit = limit;
  }

  /** Requests kept, oldest first. */
  entries(filter: JournalFilter = {}): JournalEntry[] {
    return this.#entries.slice(-this.#limit).filter((entry) => matches(entry, filter));
  }

  count(filter?: JournalFilter): number {
    return this.entries(filter).length;
  }

  /** How many requests have been forgotten because the journal was full. */
  get dropped(): number {
    return Math.max(0, this.#seq - this.#limit);
  }

  /** How often: `times`, `atLeast`, `atMost`; without any of them at least once. */
  verify({ times, atLeast, atMost, ...filter }: JournalExpectation): Verification {
    const count = this.count(filter);
    const least = times ?? atLeast ?? (atMost === undefined ? 1 : 0);
    const most = times ?? atMost ?? Infinity;
    const range = most === Infinity ? `at least ${least}` : `${least} to ${most}`;
    const wanted = least === most ? least : range;
    const ok = count >= least && count <= most;
    return { ok, message: `${wanted} wanted, ${count} came: ${JSON.stringify(filter)}` };
  }

  /** One request for each filter, in this order; others may come between them. */
  verifyOrder(filters: readonly JournalFilter[]): Verification {
    let after = 0;
    for (const [index, filter] of filters.entries()) {
      const next = this.entries(filter).find((entry) => entry.seq > after);
      if (!next) return { ok: false, message: `number ${index + 1} did not come: ${JSON.stringify(filter)}` };
      after = next.seq;
    }
    return { ok: true, message: `all ${filters.length} came in this order` };
  }

  async waitFor(filter: JournalFilter, options: WaitOptions = {}): Promise<JournalEntry[]> {
    const { count = 1, arrived = false, signal } = options;
    for (;;) {
      signal?.throwIfAborted();
      const found = this.entries(filter).filter((entry) => arrived || entry.durationMs !== null);
      if (found.length >= count) return found;
      // It rejects when the signal fires, with an error that hides the reason.
      await once(this.#changes, 'change', { ...(signal && { signal }) }).catch(() => {});
    }
  }

  clear(): void {
    this.#entries = [];
    this.#seq = 0;
  }

  begin(call: Call, atMs: number): OpenEntry {
    const started = performance.now();
    this.#seq += 1;
    const faults: string[] = [];
    const entry: OwnEntry = {
      seq: this.#seq,
      atMs,
      method: call.method,
      ...redactCall(call, this.#secrets()),
      operation: call.target?.id ?? null,
      id: call.subject,
      key: call.key?.name ?? (call.bearer === undefined ? null : 'unknown'),
      faults,
      status: null,
      durationMs: null,
    };
    this.#entries.push(entry);
    // Cut at twice the limit, not at every request.
    if (this.#entries.length > this.#limit * 2) this.#entries = this.#entries.slice(-this.#limit);
    this.#changes.emit('change');
    return {
      struck: (faultId) => faults.push(faultId),
      end: (status) => {
        entry.status = status;
        entry.durationMs = performance.now() - started;
        this.#changes.emit('change');
      },
    };
  }
}

const REDACTED = '[redacted]';

/** Fields of the contract whose values are secrets, or may hold some. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'api_key',
  'secret',
  'code',
  'backup_code',
  'docker_login_pass',
  'env',
  'storage',
  'onstart',
  'image_login',
  'args',
  'args_str',
  'launch_args',
]);

/** `secrets`: the values of all keys that exist; a presented one, in header or query, is redacted as well. */
function redactCall({ path, query, body, operation, bearer }: Call, secrets: Iterable<string>) {
  const presented = [bearer, query['api_key']].filter((key) => key !== undefined && key !== '');
  const known = [...secrets, ...(presented as string[])];
  const redacted = (value: unknown) => (isRecord(value) ? redactFields(value, operation, known) : REDACTED);
  return {
    path: scrub(path, known),
    query: redactFields(query, operation, known) as Record<string, unknown>,
    // undefined without a body, or if it was not JSON.
    body: body.kind === 'json' ? redacted(body.value) : undefined,
  };
}

function redactFields(
  fields: Readonly<Record<string, unknown>>,
  operation: Operation | undefined,
  known: readonly string[],
): unknown {
  const allowed = { ...operation?.params?.shape, ...operation?.query?.shape, ...operation?.body?.shape };
  const shown = Object.entries(fields).map(([name, value]) => [
    name,
    Object.hasOwn(allowed, name) ? value : REDACTED,
  ]);
  return scrubDeep(Object.fromEntries(shown), known);
}

function scrubDeep(value: unknown, known: readonly string[]): unknown {
  if (typeof value === 'string') return scrub(value, known);
  if (Array.isArray(value)) return value.map((item) => scrubDeep(item, known));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      scrub(name, known),
      SECRET_FIELDS.has(name) ? REDACTED : scrubDeep(item, known),
    ]),
  );
}

function scrub(text: string, known: readonly string[]): string {
  let clean = text;
  for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
  // Written otherwise, which is rare: percent-encoded in a path, or as JSON in a text.
  if (/[%\\]/.test(clean))
    for (const { pattern } of known.flatMap(secretPatterns)) clean = clean.replaceAll(pattern, REDACTED);
  return clean;
}
