/** What the journal notes of a request, and how one is found again. Pure. */
import * as z from 'zod';
import { OPERATION_IDS, type OperationId } from '../../contract/operations.ts';

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
export type JournalFilter = z.output<typeof journalFilter>;

export const journalExpectation = journalFilter.extend({
  times: z.int().nonnegative().optional(),
  atLeast: z.int().nonnegative().optional(),
  atMost: z.int().nonnegative().optional(),
});
export type JournalExpectation = z.output<typeof journalExpectation>;

/** Whether an entry is all that a filter says. */
export function matches(entry: JournalEntry, filter: JournalFilter): boolean {
  const { body, afterSeq, ...fields } = filter;
  if (afterSeq !== undefined && entry.seq <= afterSeq) return false;
  for (const [name, wanted] of Object.entries(fields)) {
    if (wanted !== undefined && entry[name as keyof JournalEntry] !== wanted) return false;
  }
  return body === undefined || contains(entry.body, body);
}

/** Whether `actual` has at least what `wanted` has. */
function contains(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return actual === wanted;
  if (typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) &&
      actual.length === wanted.length &&
      wanted.every((item, index) => contains(actual[index], item))
    );
  }
  return Object.entries(wanted).every(([name, value]) =>
    contains((actual as Record<string, unknown>)[name], value),
  );
}
