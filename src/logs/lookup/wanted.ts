/** Which worker groups are to be followed, as a user writes it: ids change with every redeployment, names stay. */

export type WantedGroup =
  | { readonly by: 'id'; readonly id: number }
  /** All groups that make workers for an endpoint. */
  | { readonly by: 'endpoint'; readonly name: string }
  /** All groups of the account. */
  | { readonly by: 'all' };

/** As WORKER_GROUPS has it: `7`, `endpoint:chat`, `all`. */
export function labelOf(wanted: WantedGroup): string {
  if (wanted.by === 'all') return 'all';
  return wanted.by === 'id' ? String(wanted.id) : `endpoint:${wanted.name}`;
}
