/** A bounded node:http server for a table of routes. A route that throws answers 500. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Logger } from 'pino';
import type { AdminAddress } from '../../config/addresses.ts';
import type { Redaction } from '../../contract/text/redaction.ts';
import { readBody } from '../../wire/body.ts';
import { bind } from './bind.ts';
import { plain, type Reply, type Routes } from './reply.ts';

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
/** For a client that does not go on with its request, or does not read its answer. */
const STALLED_MS = 60_000;

/** Node checks these at each `connectionsCheckingInterval`. */
const CONNECTION_TIMES = {
  /** From the connection to the end of the headers. */
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
} as const satisfies ServerOptions;

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
  const asked = new WeakSet<object>();
  const server = createServer(CONNECTION_TIMES, (request, response) => {
    // A client could write thousands of requests before it reads the first answer.
    if (asked.has(request.socket)) return;
    asked.add(request.socket);
    response.shouldKeepAlive = false;
    void handle(options, request, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(STALLED_MS);
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

const TRY_AGAIN_MS = 5_000;

/** Resolves when it has tried its address once; a taken port may be free in a minute. */
export async function keepListening(what: string, options: Omit<ListenerOptions, 'onError'>, logger: Logger) {
  const onError = (error: unknown, route: string): void =>
    logger.error({ err: error, route }, 'HTTP route failed');
  let listener: HttpListener | undefined;
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  async function attempt(isFirst: boolean): Promise<void> {
    try {
      const bound = await listen({ ...options, onError });
      if (closed) return await bound.close();
      listener = bound;
      if (!isFirst) logger.info({ url: bound.url }, `${what}: listening now`);
    } catch (error) {
      if (isFirst)
        logger.error({ err: error, ...options.address }, `${what}: cannot listen; it is tried again`);
      if (!closed) again = setTimeout(() => void attempt(false), TRY_AGAIN_MS);
    }
  }

  await attempt(true);
  return {
    get url() {
      return listener?.url;
    },
    async close(): Promise<void> {
      closed = true;
      clearTimeout(again);
      await listener?.close();
    },
  };
}

async function handle(
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const key = `${method} ${path}`;
  let reply: Reply;
  try {
    reply = await answer(options, key, request);
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
    'content-type': /^text\/(?!.*charset)/.test(reply.type) ? `${reply.type}; charset=utf-8` : reply.type,
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

async function answer(options: ListenerOptions, key: string, request: IncomingMessage): Promise<Reply> {
  const [path = '/', ...query] = (request.url ?? '/').split('?');
  const refusal = options.isForPrograms && refusalOfForeign(request.headers, 'path' in options.address);
  if (refusal) return plain(403, `${refusal}\n`);
  const route = Object.hasOwn(options.routes, key) ? options.routes[key] : undefined;
  if (!route) return notFound(options.routes, path);
  const { bytes, complete } = await readBody(request as AsyncIterable<Buffer>, BODY_LIMIT);
  if (!complete) return plain(413, `the body is larger than ${BODY_LIMIT} bytes\n`);
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

/** The address bar, or a page of this origin. */
const OWN_SITES: ReadonlySet<string> = new Set(['none', 'same-origin']);
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** A browser cannot reach a socket file, so any Host is allowed there. */
export function refusalOfForeign(headers: IncomingHttpHeaders, isSocketFile: boolean): string | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!isSocketFile && !LOOPBACK.test(host)) return 'only requests to a loopback address are answered here';
  const isOwn = !isSocketFile && origin?.toLowerCase() === `http://${host.toLowerCase()}`;
  if (origin !== undefined && !isOwn) return 'requests from pages of other origins are not answered here';
  if (site !== undefined && !OWN_SITES.has(site))
    return 'requests from pages of other sites are not answered here';
  return undefined;
}
