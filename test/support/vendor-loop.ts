/**
 * The heartbeat of the vendor's SDK, as its sources have it: a thread that sends, sleeps min(T/2, 60 s) and sends
 * again. A new connection for each request, no timeout, the status never looked at, and the first exception ends
 * the thread. The peer to beat.
 */
import { request } from 'node:http';

export interface VendorLoop extends Disposable {
  readonly dead: boolean;
}

export function startVendorLoop(options: {
  readonly url: string;
  readonly apiKey: string;
  readonly deploymentId: number;
  readonly ttlMs: number;
}): VendorLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const intervalMs = Math.min(options.ttlMs / 2, 60_000);
  let dead = false;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await send(options, signal);
      await sleep(intervalMs, signal);
    }
  }
  run().catch(() => (dead = true));
  return {
    get dead() {
      return dead;
    },
    [Symbol.dispose]: () => stopping.abort(),
  };
}

function send(
  { url, apiKey, deploymentId }: { url: string; apiKey: string; deploymentId: number },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const path = `${url}/api/v0/deployment/${deploymentId}/heartbeat`;
    request(path, { method: 'POST', headers, agent: false, signal }, (response) => {
      response.on('error', reject);
      response.on('end', resolve);
      response.resume();
    })
      .on('error', reject)
      .end();
  });
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
