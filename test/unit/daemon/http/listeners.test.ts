import { createServer, type Server } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { keepListening, type KeptListener } from '../../../../src/daemon/http/listeners.ts';
import { plain } from '../../../../src/daemon/http/reply.ts';
import { freePort } from '../../../support/ports.ts';
import { collectedLog } from '../../../support/collected-log.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0)) await close();
});

/** Somebody else has the port. */
async function taken(): Promise<{ readonly port: number; readonly free: () => Promise<void> }> {
  const server: Server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const free = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  closing.push(free);
  return { port, free };
}

async function keeping(port: number) {
  const { logger, lines } = collectedLog();
  const address = { host: '127.0.0.1', port };
  const routes = { 'GET /': () => plain(200, 'here\n') };
  const kept: KeptListener = await keepListening('metrics', { address, routes, onError() {} }, logger);
  closing.push(() => kept.close());
  return { kept, lines };
}

test('one that is taken is tried every five seconds, and said when that begins and ends', async () => {
  const { port, free } = await taken();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { kept, lines } = await keeping(port);
  expect(kept.url).toBeUndefined();
  expect(lines).toMatchObject([
    { level: 50, host: '127.0.0.1', port, msg: 'metrics: cannot listen; it is tried again' },
  ]);
  vi.advanceTimersByTime(5_000);
  // The next try has failed when there is a timer for the one after it.
  await vi.waitUntil(() => vi.getTimerCount() > 0, { interval: 1 });
  expect(lines).toHaveLength(1);
  await free();
  vi.advanceTimersByTime(4_999);
  expect(kept.url).toBeUndefined();
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await expect.poll(() => kept.url, { interval: 1 }).toBe(`http://127.0.0.1:${port}`);
  expect(lines.slice(1)).toMatchObject([{ level: 30, url: kept.url, msg: 'metrics: listening now' }]);
});

test('closed in the middle of a try that succeeds it leaves the port to others', async () => {
  const { port, free } = await taken();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { kept, lines } = await keeping(port);
  await free();
  vi.advanceTimersByTime(5_000);
  await kept.close();
  vi.useRealTimers();
  const other = createServer();
  closing.push(() => new Promise((resolve) => other.close(resolve)));
  other.on('error', () => {});
  await expect
    .poll(() => (other.listening ? port : other.listen(port, '127.0.0.1') && 0), { interval: 5 })
    .toBe(port);
  expect(kept.url).toBeUndefined();
  expect(lines).toHaveLength(1);
});

test('closed while it is tried it is tried no more', async () => {
  const { port } = await taken();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { kept } = await keeping(port);
  expect(vi.getTimerCount()).toBe(1);
  await kept.close();
  expect(vi.getTimerCount()).toBe(0);
});
