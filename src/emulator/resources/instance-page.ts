/** Pages of instances, pure: those that match, by id, and where the next page begins. */
import type { Input, Output } from '../../contract/operations.ts';
import { Refused } from '../answers/refused.ts';
import type { InstanceRow } from './instance-view.ts';
import { matchesFilters } from './template-filters.ts';

/** @throws Refused bad_request for a token that no page has given */
export function pageOf(
  rows: readonly InstanceRow[],
  { limit = Infinity, select_filters: filters = {}, next_token: token }: Input<'instances.page'>,
): Output<'instances.page'> {
  const matching = rows.filter((row) => matchesFilters(row, filters)).sort((a, b) => a.id - b.id);
  const after = token === undefined ? -1 : lastIdOf(token);
  const left = matching.filter(({ id }) => id > after);
  const instances = left.slice(0, limit);
  const last = instances.at(-1);
  return {
    instances_found: instances.length,
    instances,
    total_instances: matching.length,
    label_counts: labelCounts(matching),
    next_token: last && instances.length < left.length ? tokenAfter(last.id) : null,
  };
}

/** Clients pass it on and do not read it. */
function tokenAfter(id: number): string {
  return Buffer.from(`after ${id}`).toString('base64url');
}

function lastIdOf(token: string): number {
  const [, id] = /^after (\d+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (id !== undefined) return Number(id);
  throw new Refused('bad_request', 'next_token: not one of a page', {
    reason: 'next_token: not one that a page has given',
  });
}

function labelCounts(rows: readonly InstanceRow[]): Record<string, number> {
  const labels = Map.groupBy(
    rows.filter(({ label }) => label !== null),
    ({ label }) => label ?? '',
  );
  return Object.fromEntries([...labels].map(([label, { length }]) => [label, length]));
}
