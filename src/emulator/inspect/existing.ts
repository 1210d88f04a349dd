/** @throws RangeError for an id that does not exist, which is a mistake of the test that asks */
export function existing<Item>(items: ReadonlyMap<number, Item>, id: number, what: string): Item {
  const item = items.get(id);
  if (!item) throw new RangeError(`no ${what} ${id}`);
  return item;
}
