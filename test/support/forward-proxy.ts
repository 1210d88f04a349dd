/** A forward proxy as companies have them: CONNECT for TLS, absolute addresses for plain HTTP, a password. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { listening } from './listening.ts';

export interface ForwardProxy extends AsyncDisposable {
  readonly url: string;
  /** `CONNECT service.internal:443`, `POST http://service.internal/…`, in the order in which they came. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** `hang`: takes a CONNECT and never answers. `mute`: answers it, and takes what comes then in silence. */
  mode: 'forward' | 'hang' | 'mute' | 'refuse';
  /** The same for what is wanted of one host alone. */
  readonly modes: Map<string, ForwardProxy['mode']>;
  /** Ends what is open, to one host or to all; modes are for what comes. */
  drop(host?: string): void;
}

const PASSWORD = 's3cret';
const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
const EXPECTED = `Basic ${Buffer.from(`sidecar:${PASSWORD}`).toString('base64')}`;

/** Wherever a request wants to go, it goes to a port of this machine: TLS to one, plain HTTP to the other. */
export async function startForwardProxy(targets: { tls: number; http: number }): Promise<ForwardProxy> {
  const requests: string[] = [];
  const hosts = new WeakMap<Duplex, string>();
  const server = createServer();
  const { port, sockets, [Symbol.asyncDispose]: dispose } = await listening(server);
  const proxy: ForwardProxy = {
    url: `http://sidecar:${PASSWORD}@127.0.0.1:${port}`,
    requests,
    mode: 'forward',
    modes: new Map(),
    get connections() {
      return sockets.size;
    },
    drop(host) {
      for (const socket of sockets) if (host === undefined || hosts.get(socket) === host) socket.destroy();
    },
    [Symbol.asyncDispose]: dispose,
  };
  const admitted = ({ headers }: IncomingMessage, mode = proxy.mode): boolean =>
    mode !== 'refuse' && headers['proxy-authorization'] === EXPECTED;

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`);
    if (!admitted(request)) return void response.writeHead(407).end();
    const { pathname, search } = new URL(request.url ?? '');
    const { method, headers } = request;
    const upstream = httpRequest(
      { host: '127.0.0.1', port: targets.http, path: pathname + search, method, headers },
      (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)),
    );
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    requests.push(`CONNECT ${request.url}`);
    client.on('error', () => {});
    const [host = ''] = (request.url ?? '').split(':');
    hosts.set(client, host);
    const mode = proxy.modes.get(host) ?? proxy.mode;
    if (mode === 'hang') return void readSilently(client);
    if (!admitted(request, mode))
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    if (mode === 'mute') return void readSilently(client).write(ESTABLISHED);
    const upstream = connect(targets.tls, '127.0.0.1', () => {
      client.write(ESTABLISHED);
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  return proxy;
}

/** A server of node:http leaves it to us to end a connection whose other side has. */
function readSilently(client: Duplex): Duplex {
  return client.resume().on('end', () => client.destroy());
}
