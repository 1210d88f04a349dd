/** A request as far as it can be read without judging it: which operation, whose key, what input. Pure. */
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import type { RouteMatch } from '../../wire/match.ts';
import type { State } from '../state/state.ts';
import type { ApiKeyRecord } from '../state/users.ts';
import { bearerOf, keyNamed } from './access.ts';

/** What a path leads to: an operation, perhaps under another name and in another form. */
export interface Target {
  readonly id: OperationId;
  readonly alias?: Alias;
}

/** An older or newer address of an operation, and how its request differs. */
export interface Alias {
  readonly method: string;
  readonly path: string;
  readonly id: OperationId;
  /** Its spacing, if it differs from the operation's, in ms. */
  readonly publicSpacingMs?: number;
  /** The query of the alias as the body of the operation. */
  body?(query: Readonly<Record<string, string>>, state: State): Record<string, unknown>;
}

/** The part of a dialect that reading a request takes. */
export interface Addresses {
  match(method: string, path: string): RouteMatch<Target> | undefined;
  knows(operation: Operation): boolean;
  /** Takes the key also from the query, and from the body at the serverless address. */
  readonly keyAnywhere: boolean;
}

export interface IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly bodyText: string;
  /** Address that the client sees the emulator at, without a slash at its end. */
  readonly origin?: string;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly origin: string;
  /** undefined for a path that leads nowhere in this dialect. */
  readonly target: Target | undefined;
  readonly operation: Operation | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly bearer: string | undefined;
  readonly key: ApiKeyRecord | undefined;
  /** What faults and the journal call the id: the path's, else the body's; null without. */
  readonly subject: number | null;
}

type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly problem: string };

const NO_BODY: Body = { kind: 'none' };
const NO_QUERY: Readonly<Record<string, string>> = {};

export function readCall(request: IncomingRequest, dialect: Addresses, state: State): Call {
  const { method, url } = request;
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const match = dialect.match(method, path);
  const operation = match && operationOf(match.value.id);
  const known = operation !== undefined && dialect.knows(operation);
  const params = match?.params ?? {};
  const body = readBody(request.bodyText);
  const query = queryAt === -1 ? NO_QUERY : Object.fromEntries(new URLSearchParams(url.slice(queryAt + 1)));
  const elsewhere = dialect.keyAnywhere ? keyOutsideHeader(operation, query, body) : undefined;
  const bearer = bearerOf(request.authorization) ?? elsewhere;
  return {
    method,
    path,
    origin: request.origin ?? '',
    target: known ? match?.value : undefined,
    operation: known ? operation : undefined,
    params,
    query,
    body,
    bearer,
    key: bearer === undefined ? undefined : keyNamed(state, bearer),
    subject: subjectOf(params, body),
  };
}

function keyOutsideHeader(
  operation: Operation | undefined,
  query: Readonly<Record<string, string>>,
  body: Body,
): string | undefined {
  const inBody = operation?.base === 'serverless' && body.kind === 'json' && isRecord(body.value);
  const key = query['api_key'] ?? (inBody ? body.value['api_key'] : undefined);
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function readBody(text: string): Body {
  if (text === '') return NO_BODY;
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown };
  } catch (error) {
    return { kind: 'malformed', problem: error instanceof SyntaxError ? 'not JSON' : String(error) };
  }
}

function subjectOf(params: Readonly<Record<string, string>>, body: Body): number | null {
  const [inPath] = Object.values(params);
  if (inPath !== undefined) return Number.isSafeInteger(Number(inPath)) ? Number(inPath) : null;
  if (body.kind !== 'json') return null;
  const inBody = (body.value as { id?: unknown } | null)?.id;
  return typeof inBody === 'number' ? inBody : null;
}
