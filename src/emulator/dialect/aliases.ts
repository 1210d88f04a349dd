/** Older and newer addresses of operations in the public dialect. */
import { createMatcher } from '../../wire/match.ts';
import type { Alias } from '../calls/call.ts';

const ALIASES: readonly Alias[] = [
  {
    method: 'GET',
    path: '/api/v0/machines/maintenances',
    id: 'machines.maintenances',
    body: ({ machine_ids: listed }, state) => ({
      // `?owner=me` alone asks for all machines of the account.
      machine_ids: listed === undefined ? [...state.machines.keys()] : parseList(listed),
    }),
  },
  {
    method: 'GET',
    path: '/api/v1/instances/',
    id: 'instances.list',
    answer: (body) => ({ ...body, next_token: null }),
  },
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
