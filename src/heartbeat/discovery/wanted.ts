/** Which deployments a user wants kept alive, and which rows of the service's list those are. Pure. */
import * as z from 'zod';
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';

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
  const relevant = rows.filter((row) => {
    if (!isRecord(row)) return false;
    const id = Number(row['id']);
    return selection.ids.has(id) || known.has(id) || selection.hasName(String(row['name']));
  });
  // If no row can be read, the schema has to see one to refuse it.
  const kept = relevant.length > 0 ? relevant : rows.slice(0, 1);
  return { ...body, deployments: kept.map((row) => fieldsOf(row)) };
}

function fieldsOf(row: unknown): unknown {
  if (!isRecord(row)) return row;
  const { id, name, tag, ttl, endpoint_state } = row;
  return { id, name, tag, ttl, endpoint_state };
}
