/** What a handler is: the behaviour of one operation, as a transition of the state. */
import type { Answer, Fields, OperationId } from '../../contract/operations.ts';
import { badRequest, notFound } from '../answers/refused.ts';
import type { Fleets } from '../fleet/fleets.ts';
import type { TfaContext } from '../tfa/account.ts';

export interface HandlerContext extends TfaContext {
  readonly fleets: Fleets;
  /** Address that the client sees the emulator at, without a slash at its end. */
  readonly origin: string;
  /** base64 of the service's signature of a text. */
  readonly sign: (text: string) => string;
  /** Further headers of the answer, to be filled in; names in lower case. */
  readonly headers: Record<string, string>;
}

/** Answers the body of a success, or throws Refused before its first change of the state. */
export type Handler<Id extends OperationId> = (input: Fields<Id>, context: HandlerContext) => Answer<Id>;

/** One for each operation of the table: one without a handler does not compile. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

/** The handlers of one resource: those operations whose id starts with its name. */
export type HandlersOf<Resource extends string> = {
  readonly [Id in Extract<OperationId, `${Resource}.${string}`>]: Handler<Id>;
};

export function defined<Given extends object>(
  given: Given,
): { [Name in keyof Given]?: Exclude<Given[Name], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

/** Those that belong to the caller, in the order in which they were made. */
export function ownOf<Item extends { readonly userId: number }>(
  items: ReadonlyMap<unknown, Item>,
  { user }: HandlerContext,
): Item[] {
  return [...items.values()].filter(({ userId }) => userId === user.id);
}

/** One of the caller's; `what` is its kind. @throws Refused not_found */
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

/** A page of a list, and the token of the next one. @throws Refused bad_request for a token of no page */
export function pageFrom<Row>(rows: readonly Row[], token: string | undefined, limit: number) {
  const from = token === undefined ? 0 : placeOf(token);
  const end = from + limit;
  return {
    page: rows.slice(from, end),
    // Clients pass it on and do not read it.
    next_token: end < rows.length ? Buffer.from(`after ${end}`).toString('base64url') : null,
  };
}

function placeOf(token: string): number {
  const [, place] = /^after (\d+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (place !== undefined) return Number(place);
  throw badRequest('after_token', 'not the next_token of a page');
}
