/** What a route is: a request in, an answer out, and no socket in between. */
import type { IncomingMessage } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly type:
    | 'text/plain'
    | 'text/html'
    | 'text/css'
    | 'text/javascript'
    | 'application/json'
    | (string & {});
  /** What goes before the body, without a copy of it: of ours alone, so that no secret is looked for in it. */
  readonly lead?: readonly Buffer[];
  readonly body: string | Buffer;
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
