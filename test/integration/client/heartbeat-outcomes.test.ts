/** What a heartbeat's answer is to the engine, from the bytes of a real server on. */
import { createServer } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { createBeatPort } from '../../../src/heartbeat/driver/beat.ts';
import type { AttemptOutcome } from '../../../src/heartbeat/engine/state.ts';
import { listening } from '../../support/listening.ts';
import { serve } from '../../support/local-server.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

let answer: Answer;
const server = await serve((request, response) => {
  request.resume();
  response.writeHead(answer.status, answer.headers).end(answer.body);
});
// As the heart has it: its engine decides when to ask again.
const client = createClient({ baseUrl: server.url, apiKey: 'key', gate: false });
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server.close();
});

function beatOver(over: Client, connected = (): void => {}): Promise<AttemptOutcome> {
  return createBeatPort(over)({
    deploymentId: 42,
    key: 'key',
    timeoutMs: 10_000,
    fresh: false,
    signal: new AbortController().signal,
    connected,
  });
}

async function beat(given: Answer): Promise<{ outcome: AttemptOutcome; connected: number }> {
  answer = given;
  let connected = 0;
  const outcome = await beatOver(client, () => (connected += 1));
  return { outcome, connected };
}

/** The address is always named. */
const UNAUTHORIZED = {
  type: 'unauthorized',
  why: expect.stringMatching(/^the service refuses the API key \(status 40[134], 127/) as string,
};
const failed = (reason: string) => ({
  type: 'failed',
  reason,
  why: expect.stringMatching(/^[^(].* \((?:status \d+, )?127\.0\.0\.1:\d+\)$/) as string,
});

test.each<[status: number, body: string, outcome: object, headers?: Record<string, string>]>([
  [200, '{"success":true,"deployment_id":42}', { type: 'accepted' }],
  [200, '{"success":true,"deployment_id":43}', { type: 'failed', reason: 'wrong-deployment' }],
  [
    429,
    '{"success":false,"error":"rate_limited","msg":"too frequent: endpoint threshold=2.5"}',
    { type: 'throttled', retryAfterMs: 7000, thresholdMs: 2500 },
    { 'retry-after': '7' },
  ],
  [429, 'API requests too frequent', { type: 'throttled' }],
  [
    404,
    '{"success":false,"error":"not_found","msg":"no deployment 42"}',
    { type: 'not-found', address: '127.0.0.1', addresses: 1 },
  ],
  [404, '{"msg":"Session expired. Please log in again."}', UNAUTHORIZED],
  [404, '<html>not here</html>', failed('unreadable')],
  [403, '<html>403 Forbidden</html>', failed('unreadable')],
  [401, '', UNAUTHORIZED],
  [
    401,
    '{"error":"auth_error","msg":"Your key lacks proper privileges. This requires you to have logged in using Two Factor"}',
    { type: 'unauthorized', why: expect.stringContaining('create a new key there (status 401') as string },
  ],
  [301, '', failed('redirect'), { location: '/elsewhere' }],
])('%i %s', async (status, body, outcome, headers) => {
  expect(await beat({ status, body, ...(headers && { headers }) })).toEqual({ outcome, connected: 1 });
});

test.each([
  'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}',
  'SSH-2.0-OpenSSH_9.6\r\n',
  `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
])('what is no HTTP is an answer that cannot be read: %#', async (bytes) => {
  await using liar = await listening(createServer((socket) => socket.once('data', () => socket.end(bytes))));
  await using lied = createClient({ baseUrl: liar.url, apiKey: 'key' });
  await expect(beatOver(lied)).resolves.toMatchObject(failed('unreadable'));
});

test('an answer of more than 64 KiB is given up, where other operations take 64 MiB', async () => {
  const large = { success: true, deployment_id: 42, more: 'x'.repeat(64 * 1024) };
  expect((await beat({ status: 200, body: JSON.stringify(large) })).outcome).toMatchObject(
    failed('unreadable'),
  );
  await expect(client.deployments.heartbeat({ id: 42 })).resolves.toMatchObject({ deployment_id: 42 });
});
