import type { Answer, Fields, OperationId } from '../../contract/operations.ts';
import { badRequest, notFound } from '../answer.ts';
import type { Fleets } from '../fleet/fleets.ts';
import type { TfaContext } from '../tfa/account.ts';

export interface HandlerContext extends TfaContext {
  readonly fleets: Fleets;
  readonly origin: string;
  readonly sign: (text: string) => string;
  /** Further headers of the answer, in lower case, filled in by the handler. */
  readonly headers: Record<string, string>;
}

/** Returns the body, or throws Refused before its first change of the state. */
export type Handler<Id extends OperationId> = (input: Fields<Id>, context: HandlerContext) => Answer<Id>;

export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

export type HandlersOf<Resource extends string> = {
  readonly [Id in Extract<OperationId, `${Resource}.${string}`>]: Handler<Id>;
};

export function defined<Given extends object>(
  given: Given,
): { [Name in keyof Given]?: Exclude<Given[Name], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

export function ownOf<Item extends { readonly userId: number }>(
  items: ReadonlyMap<unknown, Item>,
  { user }: HandlerContext,
): Item[] {
  return [...items.values()].filter(({ userId }) => userId === user.id);
}

export function ownOne<Item extends { readonly userId: number }>(
  items: ReadonlyMap<number, Item>,
  id: number,
  { user }: HandlerContext,
  what: string,
): Item {
  const item = items.get(id);
  if (item?.userId === user.id) return item;
  throw notFound(`${what} ${id}`);
}

export function withColumns<Row extends object>(row: Row, columns: readonly string[]): Row {
  if (columns.includes('*')) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name))) as Row;
}

export function pageFrom<Row>(rows: readonly Row[], token: string | undefined, limit: number) {
  // Opaque: clients only pass it on.
  const place = token && /^after (\d+)$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (token !== undefined && !place) throw badRequest('after_token', 'not the next_token of a page');
  const from = Number(place ?? 0);
  const end = from + limit;
  const next_token = end < rows.length ? Buffer.from(`after ${end}`).toString('base64url') : null;
  return { page: rows.slice(from, end), next_token };
}
