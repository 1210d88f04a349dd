/** Older and newer addresses of operations in the public dialect. */
import { OPERATION_IDS, operationOf } from '../../contract/operations.ts';
import { createMatcher } from '../../wire/match.ts';
import type { Alias } from '../calls/call.ts';

const ALIASES: readonly Alias[] = [
  {
    method: 'GET',
    path: '/api/v0/machines/maintenances',
    id: 'machines.maintenances',
    publicSpacingMs: 2000,
    body: ({ machine_ids: listed }, state) => ({
      // `?owner=me` alone asks for all machines of the account.
      machine_ids: listed === undefined ? [...state.machines.keys()] : parseList(listed),
    }),
  },
  ...older('/api/v0/autojobs/', '/api/v0/workergroups/'),
  {
    method: 'POST',
    path: '/get_autogroup_logs/',
    id: 'workergroups.logs',
    answer: ({ logs }) => ({ info0: logs, info1: withoutRedraws(logs), trace: '', debug: '' }),
  },
];

export const matchAlias = createMatcher(
  ALIASES.map((alias) => ({ method: alias.method, path: alias.path, value: { id: alias.id, alias } })),
);

/** The operations below one path, at the path that they had before. */
function older(was: string, is: string): Alias[] {
  return OPERATION_IDS.flatMap((id) => {
    const { method, path } = operationOf(id);
    if (!path.startsWith(is)) return [];
    const spacing = id === 'workergroups.create' ? { publicSpacingMs: 4000 } : {};
    return [{ method, path: was + path.slice(is.length), id, ...spacing }];
  });
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The less detailed level of a log: of a line that was redrawn in place, such as a progress bar, the last state. */
function withoutRedraws(logs: unknown): unknown {
  return typeof logs === 'string' ? logs.replaceAll(/[^\n]*\r(?=[^\n])/g, '') : logs;
}
