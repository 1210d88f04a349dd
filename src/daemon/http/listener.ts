/**
 * A small node:http server for a table of routes: bounded in request size, time and connections, HEAD for
 * every GET, one place for the security headers, and a route that throws answers 500 and harms nothing else.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../wire/body.ts';
import type { ListenAddress } from '../../config/types/value-types.ts';

export interface Reply {
  readonly status: number;
  readonly type:
    | 'text/plain'
    | 'text/html'
    | 'text/css'
    | 'text/javascript'
    | 'application/json'
    | (string & {});
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteRequest {
  readonly headers: IncomingMessage['headers'];
  readonly query: URLSearchParams;
  /** Body of a POST or PUT, at most BODY_LIMIT bytes. */
  readonly body: string;
}

export type Route = (request: RouteRequest) => Reply | Promise<Reply>;
/** `GET /metrics` → route. */
export type Routes = Readonly<Record<string, Route>>;

export interface HttpListener {
  readonly url: string;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly address: ListenAddress;
  readonly routes: Routes;
  readonly onError: (error: unknown, route: string) => void;
  /** Refuse requests that name another host: a page in a browser must not reach the admin routes by DNS rebinding. */
  readonly loopbackHostsOnly?: boolean;
}

const BODY_LIMIT = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 256;

/** Everything the page needs comes from its own origin. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;

/** Resolves once the socket is bound; rejects when it cannot be. */
export async function listen(options: ListenerOptions): Promise<HttpListener> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: 16 * 1024 },
    (request, response) => void handle(options, request, response),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await bind(server, options.address);
  const { port } = server.address() as AddressInfo;
  const { host } = options.address;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bind(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function handle(
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = request.url ?? '/';
  const path = url.split('?')[0] ?? '/';
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const key = `${method} ${path}`;
  let reply: Reply;
  try {
    reply = await answer(options, key, path, new URLSearchParams(url.slice(path.length)), request);
  } catch (error) {
    options.onError(error, key);
    reply = plain(500, 'internal error; the daemon log says more\n');
  }
  response.writeHead(reply.status, {
    ...SECURITY_HEADERS,
    'content-type': reply.type.startsWith('text/') ? withCharset(reply.type) : reply.type,
    'content-length': Buffer.byteLength(reply.body),
    ...reply.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : reply.body);
}

async function answer(
  options: ListenerOptions,
  key: string,
  path: string,
  query: URLSearchParams,
  request: IncomingMessage,
): Promise<Reply> {
  if (options.loopbackHostsOnly && !isLoopbackHost(request.headers.host)) {
    return plain(403, 'only requests to a loopback address are answered here\n');
  }
  const route = Object.hasOwn(options.routes, key) ? options.routes[key] : undefined;
  if (!route) return notFound(options.routes, path);
  const { bytes, complete } = await readBody(request as AsyncIterable<Buffer>, BODY_LIMIT);
  if (!complete) return plain(413, `the body is larger than ${BODY_LIMIT} bytes\n`);
  return route({ headers: request.headers, query, body: bytes.toString('utf8') });
}

function notFound(routes: Routes, path: string): Reply {
  const methods = Object.keys(routes)
    .filter((key) => key.endsWith(` ${path}`))
    .map((key) => key.split(' ')[0] ?? '');
  if (methods.length > 0) {
    return { ...plain(405, `use ${methods.join(' or ')}\n`), headers: { allow: methods.join(', ') } };
  }
  return plain(404, `nothing here; there is ${Object.keys(routes).join(', ')}\n`);
}

function isLoopbackHost(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '');
  return name === '127.0.0.1' || name === '[::1]' || name === 'localhost';
}

function withCharset(type: string): string {
  return type.includes('charset') ? type : `${type}; charset=utf-8`;
}

export function plain(status: number, body: string): Reply {
  return { status, type: 'text/plain', body };
}

export function json(status: number, value: unknown): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}
