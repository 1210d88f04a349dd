/** Keeps the latest requests. An allow-list keeps keys and codes out. */
import { EventEmitter, once } from 'node:events';
import * as z from 'zod';
import type { Operation } from '../contract/define.ts';
import { isRecord } from '../contract/is-record.ts';
import { OPERATION_IDS, type OperationId } from '../contract/operations.ts';
import { REDACTED, secretPatterns } from '../contract/text/redaction.ts';
import type { Call } from './call.ts';

/** A request and its answer, without keys and codes. */
export interface JournalEntry {
  /** Counts from 1. */
  readonly seq: number;
  /** Arrival, Unix ms in emulator time. */
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** null for an unknown path. */
  readonly operation: OperationId | null;
  /** The id in the path, else the one in the body. */
  readonly id: number | null;
  /** Name of the API key; `unknown` for an unknown key, null without a key. */
  readonly key: string | null;
  readonly body: unknown;
  /** Ids of the faults that struck it. */
  readonly faults: readonly string[];
  /** null before the answer, and for good if the connection broke first. */
  readonly status: number | null;
  /** Real ms from arrival to the end; null before it. */
  readonly durationMs: number | null;
}

export const operationId = z.enum(OPERATION_IDS as [OperationId, ...OperationId[]]);

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
/** Requests that fit all given fields. `body`: a subset. `afterSeq`: only later numbers. */
export type JournalFilter = z.output<typeof journalFilter>;

export const journalExpectation = journalFilter.extend({
  times: z.int().nonnegative().optional(),
  atLeast: z.int().nonnegative().optional(),
  atMost: z.int().nonnegative().optional(),
});
/** The number of requests: exactly `times`, `atLeast` or `atMost`. */
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

/** Waits for `count` (default 1) answered requests, or `arrived` ones, until `signal` fires. */
export interface WaitOptions {
  readonly count?: number;
  readonly arrived?: boolean;
  readonly signal?: AbortSignal;
}

export interface OpenEntry {
  struck(faultId: string): void;
  end(status: number | null): void;
}

type OwnEntry = { -readonly [K in keyof JournalEntry]: JournalEntry[K] };

/** Whether an expectation holds, and what came, in words. */
export type Verification = Readonly<ReturnType<RequestJournal['verify']>>;

/** Only the server begins entries. */
export type Journal = Omit<RequestJournal, 'begin'>;

export class RequestJournal {
  readonly #secrets: () => Iterable<string>;
  readonly #limit: number;
  #entries: OwnEntry[] = [];
  #seq = 0;
  /** Fires for each new and each answered entry. */
  readonly #changes = new EventEmitter().setMaxListeners(0);

  /** `secrets` is asked at each request, since a reset changes them. */
  constructor(secrets: () => Iterable<string>, limit = 10_000) {
    this.#secrets = secrets;
    this.#limit = limit;
  }

  /** Oldest first. */
  entries(filter: JournalFilter = {}): JournalEntry[] {
    return this.#entries.slice(-this.#limit).filter((entry) => matches(entry, filter));
  }

  count(filter?: JournalFilter): number {
    return this.entries(filter).length;
  }

  /** Requests forgotten because the journal was full. */
  get dropped(): number {
    return Math.max(0, this.#seq - this.#limit);
  }

  /** By default at least one. */
  verify({ times, atLeast, atMost, ...filter }: JournalExpectation) {
    const count = this.count(filter);
    const least = times ?? atLeast ?? (atMost === undefined ? 1 : 0);
    const most = times ?? atMost ?? Infinity;
    const range = most === Infinity ? `at least ${least}` : `${least} to ${most}`;
    const wanted = least === most ? least : range;
    const ok = count >= least && count <= most;
    return { ok, message: `${wanted} wanted, ${count} came: ${JSON.stringify(filter)}` };
  }

  /** Others may come between them. */
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
      // Its error hides the reason of the signal.
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
    // Cutting at twice the limit is rare, and so cheap.
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

function redactCall({ path, query, body, operation, bearer }: Call, secrets: Iterable<string>) {
  const presented = [bearer, query['api_key']].filter((key) => key !== undefined && key !== '');
  const known = [...secrets, ...(presented as string[])];
  const redacted = (value: unknown) => (isRecord(value) ? redactFields(value, operation, known) : REDACTED);
  return {
    path: scrub(path, known),
    query: redactFields(query, operation, known) as Record<string, unknown>,
    // undefined without a JSON body.
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
  // Rarely, secrets are percent-encoded in a path or JSON in a text.
  if (/[%\\]/.test(clean))
    for (const { pattern } of known.flatMap(secretPatterns)) clean = clean.replaceAll(pattern, REDACTED);
  return clean;
}
