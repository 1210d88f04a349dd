/** @throws RangeError for an id that does not exist: what a test is told of a mistake of its own. */
export function existing<Item>(items: ReadonlyMap<number, Item>, id: number, what: string): Item {
  const item = items.get(id);
  if (!item) throw new RangeError(`no ${what} ${id}`);
  return item;
}
