import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { startFaultProxy, type FaultMode } from '../../support/fault-proxy.ts';
import { listening } from '../../support/listening.ts';

const BODY = '0123456789';
/** Paths of the requests that came: a slow one may come while the next test runs already. */
const requests: string[] = [];
const service = await listening(
  createServer(({ url = '' }, response) => {
    requests.push(url);
    response.end(BODY);
  }),
);
afterAll(() => service[Symbol.asyncDispose]());

/** What a client sees of one connection. */
class Connection implements Disposable {
  static #asked = 0;
  /** Each connection asks for a path of its own. */
  readonly path = `/${(Connection.#asked += 1)}`;
  readonly request = `GET ${this.path} HTTP/1.1\r\nhost: a\r\n\r\n`;
  readonly socket: Socket;
  received = '';
  /** `open`, `closed`, or the code of the error that ended it. */
  end = 'open';
  connected = false;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port) });
    this.socket.on('connect', () => (this.connected = true));
    this.socket.on('data', (chunk) => (this.received += chunk.toString()));
    this.socket.on('error', (error: NodeJS.ErrnoException) => (this.end = error.code ?? ''));
    this.socket.on('close', () => (this.end = this.end === 'open' ? 'closed' : this.end));
  }

  ask(): this {
    this.socket.write(this.request);
    return this;
  }

  /** Until the answer is whole, the connection has ended, or half a second has passed. */
  async watch(): Promise<this> {
    const until = performance.now() + 500;
    while (performance.now() < until && this.end === 'open' && !this.received.endsWith(BODY)) await delay(5);
    return this;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

const proxied = () => startFaultProxy(service.port);

describe('the fault proxy, as a client sees it', () => {
  test.each<[mode: FaultMode, end: string, isConnected: boolean, received: string, taken: number]>([
    [{ kind: 'pass' }, 'open', true, BODY, 1],
    [{ kind: 'refuse' }, 'ECONNREFUSED', false, '', 0],
    [{ kind: 'hang-at-connect' }, 'open', false, '', 0],
    [{ kind: 'hang-after-request' }, 'open', true, '', 0],
    [{ kind: 'hang-in-body' }, 'open', true, '01234', 1],
    [{ kind: 'cut-body' }, 'closed', true, '01234', 1],
    [{ kind: 'reset' }, 'ECONNRESET', true, '', 0],
    [{ kind: 'half-open' }, 'open', true, BODY, 1],
    [{ kind: 'slow', bytesPerSecond: 20 }, 'open', true, '', 0],
  ])(
    '$kind: a new connection, and after it a healthy one',
    async (mode, end, isConnected, received, taken) => {
      await using proxy = await proxied();
      await proxy.switchTo(mode);
      using struck = await new Connection(proxy.url).ask().watch();
      const body = struck.received.split('\r\n\r\n')[1] ?? '';
      expect([struck.end, struck.connected, body]).toEqual([end, isConnected, received]);
      expect(requests.filter((path) => path === struck.path)).toHaveLength(taken);
      await proxy.switchTo({ kind: 'pass' });
      using after = await new Connection(proxy.url).ask().watch();
      expect(after.received).toContain(BODY);
    },
  );

  test.each<[mode: FaultMode, end: string]>([
    [{ kind: 'refuse' }, 'ECONNRESET'],
    [{ kind: 'reset' }, 'ECONNRESET'],
    [{ kind: 'half-open' }, 'open'],
    [{ kind: 'hang-at-connect' }, 'open'],
  ])(
    '$kind: a connection that was open gets no answer, not even when the fault has passed',
    async (mode, end) => {
      await using proxy = await proxied();
      using open = new Connection(proxy.url);
      await once(open.socket, 'connect');
      await expect.poll(() => proxy.connections).toBe(1);
      await proxy.switchTo(mode);
      await proxy.switchTo({ kind: 'pass' });
      await open.ask().watch();
      expect([open.end, open.received]).toEqual([end, '']);
    },
  );

  test('closing it ends every connection, silent ones too, and frees the port', async () => {
    const proxy = await proxied();
    using silent = new Connection(proxy.url);
    await once(silent.socket, 'connect');
    await proxy.switchTo({ kind: 'hang-at-connect' });
    await proxy[Symbol.asyncDispose]();
    await silent.watch();
    expect([silent.end, proxy.connections]).toEqual(['closed', 0]);
    using late = await new Connection(proxy.url).watch();
    expect(late.end).toBe('ECONNREFUSED');
  });
});
