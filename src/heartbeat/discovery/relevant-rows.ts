/**
 * What a list of the whole account is read for: the deployments that are wanted, and of each five fields. A list may have
 * tens of thousands of rows, and a service may write every number as a text: to read all of that as what it should be
 * takes seconds, in which no heartbeat leaves. Pure.
 */
import * as z from 'zod';
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import type { Knowledge } from './knowledge.ts';
import type { Wanted } from './wanted.ts';

/** The list, whose answers are read only as far as `relevant` leaves of them. */
export function listOf(list: Operation, relevant: (body: unknown) => unknown): Operation {
  return { ...list, response: z.preprocess(relevant, list.response) };
}

/** Those of the body's rows that are wanted or known, as they came; whatever has no rows stays as it is. */
export function relevantRows(body: unknown, wanted: readonly Wanted[], { deployments }: Knowledge): unknown {
  if (!isRecord(body) || !Array.isArray(body['deployments'])) return body;
  const ids = new Set(wanted.flatMap((one) => (one.by === 'id' ? [one.id] : [])));
  const names = new Set(wanted.flatMap((one) => (one.by === 'name' ? [one.name] : [])));
  const rows: readonly unknown[] = body['deployments'];
  const relevant = rows.filter((row) => {
    if (!isRecord(row)) return false;
    const id = Number(row['id']);
    return ids.has(id) || deployments.has(id) || names.has(String(row['name']));
  });
  // Where no row can be read, that is what has to be said.
  const kept = relevant.length > 0 ? relevant : rows.slice(0, 1);
  return { ...body, deployments: kept.map((row) => fieldsOf(row)) };
}

function fieldsOf(row: unknown): unknown {
  if (!isRecord(row)) return row;
  const { id, name, tag, ttl, endpoint_state } = row;
  return { id, name, tag, ttl, endpoint_state };
}
