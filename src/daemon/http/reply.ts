/** What a route is: a request in, an answer out, and no socket in between. */
import type { IncomingMessage } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly type: string;
  /** Several texts are written one after the other: together they may be 30 MB. */
  readonly body: string | Buffer | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteRequest {
  readonly headers: IncomingMessage['headers'];
  readonly query: URLSearchParams;
  /** Body of a POST or PUT, of bounded size. */
  readonly body: string;
}

export type Route = (request: RouteRequest) => Reply | Promise<Reply>;
/** `GET /metrics` → route. */
export type Routes = Readonly<Record<string, Route>>;

export function plain(status: number, body: string): Reply {
  return { status, type: 'text/plain', body };
}

export function json(status: number, value: unknown): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}

export function schemaRoute(schema: () => unknown): Route {
  return () => ({ ...json(200, schema()), type: 'application/schema+json' });
}
