/** Which worker groups are to be followed, as a user writes it: ids change with every redeployment, names stay. */

export type WantedGroup =
  | { readonly by: 'id'; readonly id: number }
  /** All groups that make workers for an endpoint. */
  | { readonly by: 'endpoint'; readonly name: string }
  /** All groups of the account. */
  | { readonly by: 'all' };
