/** A service that answers with bytes that a test has made up, in place of an HTTP server that would correct them. */
import * as fc from '../fast-check.ts';
import { createServer } from 'node:net';
import { operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { listening, type Listening } from '../listening.ts';
import { damagedBytes, damagedJsonText, damagedText } from './damage.ts';

/** What comes of a request, by its method and target: the bytes of an answer, which ends its connection unless `keeps`. */
export interface Lie {
  readonly bytes: Buffer;
  readonly keeps?: boolean;
}

export function startLyingService(answerTo: (method: string, target: string) => Lie): Promise<Listening> {
  const server = createServer((socket) => {
    let pending = '';
    socket.on('error', () => socket.destroy());
    socket.setEncoding('latin1').on('data', (text: string) => {
      pending += text;
      for (let end = endOfRequest(pending); end !== undefined; end = endOfRequest(pending)) {
        const [method = '', target = ''] = pending.split(' ', 2);
        pending = pending.slice(end);
        const { bytes, keeps = false } = answerTo(method, target);
        socket.write(bytes);
        if (!keeps) socket.end();
      }
    });
  });
  return listening(server);
}

function endOfRequest(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const [, length = '0'] = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head)) ?? [];
  const end = head + 4 + Number(length);
  return end <= text.length ? end : undefined;
}

export function honestAnswer(id: OperationId, answer: unknown = operationOf(id).example.response): Lie {
  return { bytes: written(200, [], JSON.stringify(answer)), keeps: true };
}

function written(status: number, headers: readonly (readonly [string, string])[], body: string): Buffer {
  const named = [
    ['content-type', 'application/json'],
    ...headers,
    ['content-length', String(Buffer.byteLength(body))],
  ];
  const head = named.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} x\r\n${head}\r\n`, 'latin1'), Buffer.from(body)]);
}

const statuses = fc.weighted(
  [6, fc.constant(200)],
  [2, fc.constantFrom(201, 204, 206, 301, 304, 307, 400, 401, 403, 404, 410, 429, 500, 503)],
  [1, fc.integer({ min: 100, max: 999 })],
);
const headers = fc.array(
  fc.constantFrom<readonly [string, string]>(
    ['retry-after', '99999999999999999999'],
    ['retry-after', '-1'],
    ['retry-after', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['date', 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ['date', 'yesterday'],
    ['location', 'http://127.0.0.1:1/'],
    ['content-encoding', 'gzip'],
    ['content-type', 'text/html; charset=utf-7'],
    ['content-length', '3'],
    ['content-length', '99999999999'],
    ['transfer-encoding', 'chunked'],
    ['transfer-encoding', 'gzip, chunked'],
    ['connection', 'close'],
    ['connection', 'upgrade'],
    ['upgrade', 'h2c'],
    ['set-cookie', 'a=b; HttpOnly'],
    ['x-long', 'x'.repeat(20_000)],
    ['constructor', 'x'],
    ['__proto__', 'x'],
    ['x-latin', '\u00FF\u0080'],
  ),
  { maxLength: 3 },
);

/** The shapes in which a service or a gateway says no, to begin with. */
const REFUSALS = [
  '{"success":false,"error":"invalid_request","msg":"no"}',
  '{"error_msg":"no such thing"}',
  '"refused"',
  '{"detail":[{"loc":["body","id"],"msg":"Field required"}]}',
  '<html><head><title>502 Bad Gateway</title></head></html>',
  '{"detail":"API requests too frequent: threshold=3.5"}',
];

const SMUGGLED = written(200, [], '{"success":true,"id":666,"smuggled":true}');

/** What a service may say to an operation in place of its documented answer, from the words to the bytes. */
export function liesTo(id: OperationId): fc.Arbitrary<Lie> {
  const { response } = operationOf(id).example;
  const text = JSON.stringify(response);
  const body = fc.weighted(
    [6, damagedJsonText(response)],
    [3, damagedText(text)],
    [2, fc.constantFrom(...REFUSALS).chain((words) => damagedText(words))],
    [1, fc.constantFrom('', 'null', '[]', '{}', '0', '"'.repeat(5_000), '['.repeat(100_000))],
    // Answers of a size that no operation has.
    [1, fc.constantFrom(`{"logs":"${'x\\n'.repeat(100_000)}"}`, `[${'{"id":1},'.repeat(20_000)}0]`)],
  );
  const whole = fc.tuple(statuses, headers, body);
  return fc.weighted(
    // Nothing wrong with the form: the connection may be used again.
    [
      4,
      fc
        .tuple(statuses, body)
        .map(([status, words]) => ({ bytes: written(status, [], words), keeps: keepsOpen(status) })),
    ],
    // Followed by what nobody has asked for, and the next request must not be answered by.
    [1, body.map((words) => ({ bytes: Buffer.concat([written(200, [], words), SMUGGLED]), keeps: true }))],
    [3, whole.map((parts) => ({ bytes: written(...parts) }))],
    [3, whole.chain((parts) => damagedBytes(written(...parts))).map((bytes) => ({ bytes }))],
  );
}

/** An answer that is about to come, or that has no body, would be waited for or be followed by what is no answer. */
function keepsOpen(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}
