/** A bounded node:http server for a table of routes. A route that throws answers 500. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../wire/body.ts';
import type { AdminAddress } from '../../config/addresses.ts';
import type { Redaction } from '../../contract/text/redaction.ts';
import { CONNECTION_TIMES, Connections } from './connections.ts';
import { refusalOfForeign } from './access.ts';
import { plain, type Reply, type Routes } from './reply.ts';
import { listenOnSocketFile } from './socket-file.ts';

export interface HttpListener {
  /** `http://host:port`, or `unix:/path`. */
  readonly url: string;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly address: AdminAddress;
  readonly routes: Routes;
  readonly onError: (error: unknown, route: string) => void;
  /** Refuse what a page of another origin sends. */
  readonly isForPrograms?: boolean;
  /** Cuts secrets out of what is answered. */
  readonly redaction?: Redaction;
}

const BODY_LIMIT = 64 * 1024;
const MAX_CONNECTIONS = 128;

/** Static files contain no secret. */
const OUR_OWN = /^(?:text\/(?:html|css|javascript)|image\/)/;

/** The page loads everything from its own origin. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;

export async function listen(options: ListenerOptions): Promise<HttpListener> {
  const server = createServer({ ...CONNECTION_TIMES, maxHeaderSize: 16 * 1024 });
  const connections = new Connections(server, MAX_CONNECTIONS);
  server.on('request', (request, response) => void handle(options, connections, request, response));
  const url = await bind(server, options.address);
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bind(server: Server, address: AdminAddress): Promise<string> {
  if ('path' in address) {
    await listenOnSocketFile(server, address.path);
    return `unix:${address.path}`;
  }
  const { host } = address;
  server.listen({ host, port: address.port });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function handle(
  options: ListenerOptions,
  connections: Connections,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const key = `${method} ${path}`;
  let reply: Reply;
  try {
    const onWhole = (): void => connections.answering(request.socket, response);
    reply = connections.begins(request.socket, response)
      ? await answer(options, key, request, onWhole)
      : plain(503, 'one request at a time on a connection\n');
    if (options.redaction) reply = redactedReply(reply, options.redaction);
  } catch (error) {
    // A client that leaves in the middle of its request is not our error.
    if (request.destroyed && !request.complete) return;
    options.onError(error, key);
    reply = plain(500, 'internal error; the daemon log says more\n');
  }
  const pieces = [reply.body].flat().map((piece) => Buffer.from(piece));
  response.writeHead(reply.status, {
    ...SECURITY_HEADERS,
    'content-type': reply.type.startsWith('text/') ? withCharset(reply.type) : reply.type,
    'content-length': pieces.reduce((sum, { length }) => sum + length, 0),
    ...reply.headers,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const last = pieces.pop();
  for (const piece of pieces) response.write(piece);
  response.end(last);
}

async function answer(
  options: ListenerOptions,
  key: string,
  request: IncomingMessage,
  onWhole: () => void,
): Promise<Reply> {
  const [path = '/', ...query] = (request.url ?? '/').split('?');
  const refusal = options.isForPrograms && refusalOfForeign(request.headers, 'path' in options.address);
  if (refusal) return plain(403, `${refusal}\n`);
  const route = Object.hasOwn(options.routes, key) ? options.routes[key] : undefined;
  if (!route) return notFound(options.routes, path);
  const { bytes, complete } = await readBody(request as AsyncIterable<Buffer>, BODY_LIMIT);
  if (!complete) return plain(413, `the body is larger than ${BODY_LIMIT} bytes\n`);
  onWhole();
  const { headers } = request;
  return route({ headers, query: new URLSearchParams(query.join('?')), body: bytes.toString('utf8') });
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

function withCharset(type: string): string {
  return type.includes('charset') ? type : `${type}; charset=utf-8`;
}

/** Errors of the service or of Redis may quote secrets. */
export function redactedReply(reply: Reply, redaction: Redaction): Reply {
  const { type, body } = reply;
  if (OUR_OWN.test(type)) return reply;
  const redacted = (text: string): string => {
    if (type.includes('json')) return redaction.json(text);
    // Only the exposition format of Prometheus has a version.
    return type.includes('version=') ? redaction.metrics(text) : redaction.text(text);
  };
  return { ...reply, body: Array.isArray(body) ? body.map(redacted) : redacted(String(body)) };
}
