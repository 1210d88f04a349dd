/** What a service may send before its answer, and how much may stand above it. */
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTransport } from '../../../../src/client/transport/transport.ts';
import { exchangeOf } from '../../../support/answering-transport.ts';
import { listening } from '../../../support/listening.ts';

const BODY = 'HTTP/1.1 100 Continue\r\n\r\nis text here';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

function answer(fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}content-length: ${BODY.length}\r\n\r\n`;
}

async function send(socket: Socket, packets: readonly string[]): Promise<void> {
  for (const packet of packets) {
    socket.write(packet);
    await delay(20);
  }
}

test.each([
  ['100 Continue in one packet with the answer', [CONTINUE + answer() + BODY]],
  ['100 Continue in a packet of its own, with fields', ['HTTP/1.1 100 \r\nvia: a\r\n\r\n', answer() + BODY]],
  ['100 Continue twice in one packet', [CONTINUE + CONTINUE, CONTINUE + answer() + BODY]],
  [
    '100 Continue in two pieces',
    [CONTINUE.slice(0, 5), CONTINUE.slice(5, 20), CONTINUE.slice(20), answer() + BODY],
  ],
  [
    '103 Early Hints, then 100 Continue',
    ['HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n' + CONTINUE, answer() + BODY],
  ],
  ['a body that begins like one, in a packet of its own', [answer(), BODY]],
  ['100 KiB of headers', [answer(`x-filler: ${'a'.repeat(100 * 1024)}\r\n`) + BODY]],
])('%s: the answer is read, twice over one connection', async (_what, packets) => {
  let connections = 0;
  await using server = await listening(
    createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      socket.on('data', () => void send(socket, packets));
    }),
  );
  await using transport = createTransport();
  for (let count = 0; count < 2; count += 1) {
    const asked = exchangeOf(server.url, { method: 'POST', body: '{}', signal: AbortSignal.timeout(5_000) });
    const { status, text } = await transport.exchange(asked);
    expect([status, text]).toEqual([200, BODY]);
  }
  expect(connections).toBe(1);
});
