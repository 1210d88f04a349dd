/** The highest price that the worker groups of an endpoint search for. Pure. */
import type { PriceCeilings } from '../../fleet/watch.ts';
import { isRecord } from '../../contract/is-record.ts';
import type { WorkerGroup } from '../../contract/operations/serverless/worker-group-list.ts';

/** The command line of the service calls `dph_total` `dph`. */
const NAMES = ['dph_total', 'dph'];
const IN_TEXT = /\bdph(?:_total)?\s*<=?\s*(\d+(?:\.\d+)?)/;

/** An endpoint with a group that has no ceiling is not in it. */
export function priceCeilings(groups: readonly WorkerGroup[]): PriceCeilings {
  const ceilings = new Map<number, number>();
  for (const { endpoint_id: id, search_query: query } of groups)
    if (typeof id === 'number') ceilings.set(id, Math.max(ceilings.get(id) ?? 0, ceilingIn(query)));
  return new Map([...ceilings].filter(([, ceiling]) => ceiling < Infinity));
}

/** A search is an object, an object in JSON, or text like `dph_total<=0.5`. */
function ceilingIn(query: unknown): number {
  if (typeof query === 'string') return query.startsWith('{') ? ceilingIn(parsed(query)) : inText(query);
  if (!isRecord(query)) return Infinity;
  const bounds = NAMES.flatMap((name) => {
    const filter = query[name];
    return isRecord(filter) ? [filter['lte'], filter['lt'], filter['eq']].map(Number) : [];
  });
  return Math.min(Infinity, ...bounds.filter((bound) => bound > 0));
}

function inText(query: string): number {
  return Number(IN_TEXT.exec(query)?.[1] ?? Infinity);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
