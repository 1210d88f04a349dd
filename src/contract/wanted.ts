/** Worker groups and endpoints as a user names them: ids change with every redeployment, names stay. */
export type WantedRow =
  | { readonly by: 'id'; readonly id: number }
  /** The endpoint of that name, or all worker groups that serve it. If the name is a number, use the id or `all`. */
  | { readonly by: 'name'; readonly name: string }
  | { readonly by: 'all' };

/** A list without a row may be a fault of the service; so many in a row are not. */
export const LISTS_TO_BE_GONE = 2;

/** `name`: of the endpoint. */
export function isWanted(wanted: readonly WantedRow[], id: number, name: string | null | undefined): boolean {
  return wanted.some((one) => one.by === 'all' || (one.by === 'id' ? one.id === id : one.name === name));
}

/** Wanted names that the list lacks. */
export function missingNames(wanted: readonly WantedRow[], names: Iterable<string | undefined>): string[] {
  const there = new Set(names);
  return wanted.flatMap((one) => (one.by === 'name' && !there.has(one.name) ? [one.name] : []));
}

/** As it stands in the configuration; `before` goes before a name. */
export function labelOfWanted(wanted: WantedRow, before = ''): string {
  return wanted.by === 'name' ? before + wanted.name : wanted.by === 'id' ? String(wanted.id) : 'all';
}
