/** Requests as bytes, sent to a real listener over a socket that ends with them. */
import { connect } from 'node:net';
import * as fc from '../fast-check.ts';
import { damagedBytes } from './damage.ts';

/** What a listener answers to these bytes, whole or not; empty where it only closes. Rejects where it does neither. */
export function exchange(url: string, bytes: Uint8Array): Promise<string> {
  const place = url.startsWith('unix:')
    ? { path: url.slice('unix:'.length) }
    : { host: new URL(url).hostname, port: Number(new URL(url).port) };
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(place);
    // Far beyond what is asked of it, which is measured in processor time.
    const overdue = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(
          `neither answered nor closed: ${JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 2_000))}`,
        ),
      );
    }, 30_000);
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(overdue);
      resolve(answer);
    });
    // The end of the request is the end of what the client will ever say.
    socket.end(bytes);
  });
}

export interface Request {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function bytesOf({ method, target, headers = {}, body = '' }: Request, more: readonly string[]): Buffer {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...named,
    ...more,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Header lines that a client, a proxy or somebody with bad intentions may add. */
const LINES = fc.constantFrom(
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding : chunked',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Connection: upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAAQAAP__',
  'Expect: 100-continue',
  'Expect: something',
  'Trailer: x',
  'Host: other.example',
  'X-Forwarded-For: 127.0.0.1',
  'X-HTTP-Method-Override: POST',
  'Accept: text/csv',
  'Accept-Encoding: gzip, deflate, br',
  'Content-Type: application/json; charset=utf-16',
  'Content-Encoding: gzip',
  'Authorization: Bearer',
  'Authorization: Basic ::::',
  `Cookie: ${'a=b; '.repeat(900)}`,
  `X-Long: ${'x'.repeat(17_000)}`,
  ' folded: line',
  '__proto__: x',
  'x\u00FF: \u0080',
);

/** Each of the requests, with other headers, other bytes, cut off, or followed by another. */
export function damagedRequests(requests: readonly Request[]): fc.Arbitrary<Buffer> {
  const whole = fc
    .tuple(fc.constantFrom(...requests), fc.array(LINES, { maxLength: 3 }))
    .map(([request, more]) => bytesOf(request, more));
  return fc.oneof(
    { weight: 2, arbitrary: whole },
    { weight: 6, arbitrary: whole.chain((bytes) => damagedBytes(bytes)) },
    { weight: 2, arbitrary: fc.tuple(whole, whole).chain((both) => damagedBytes(Buffer.concat(both))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constantFrom(TLS_HELLO, HTTP2_PREFACE, REDIS, SLASHES) },
  );
}

/** What else speaks first on a port. */
const TLS_HELLO = Buffer.from('16030100c8010000c40303' + '00'.repeat(190), 'hex');
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const REDIS = Buffer.from('*1\r\n$4\r\nPING\r\n');
const SLASHES = Buffer.from(`GET ${'/../'.repeat(2_000)} HTTP/1.0\r\n\r\n`);
