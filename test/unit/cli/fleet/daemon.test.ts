/** A daemon that is asked by a command, over a real socket. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fetchJson } from '../../../../src/cli/fleet/daemon.ts';

test('a daemon that hangs is waited for no longer than five seconds', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
  onTestFinished(() => {
    timeout.mockRestore();
    server.close();
    server.closeAllConnections();
  });
  server.once('request', () => limit.abort(new DOMException('too late', 'TimeoutError')));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = fetchJson({ url, token: undefined }, '/api/status', new AbortController().signal);
  await expect(asked).rejects.toMatchObject({ code: 'daemon_away', message: `${url}/api/status: too late` });
  expect(timeout).toHaveBeenCalledWith(5_000);
});
