/** Which endpoints are to be watched, as a user writes it: ids change with every redeployment, names stay. */

export type WantedEndpoint =
  | { readonly by: 'id'; readonly id: number }
  /** All that have the name. One whose name is a number is wanted by its id, or with all. */
  | { readonly by: 'name'; readonly name: string }
  /** All of the account. */
  | { readonly by: 'all' };
