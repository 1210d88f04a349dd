/**
 * Makes attempts over one transport in a process of its own, and counts open files, connections and heap.
 * Needs --expose-gc and an IPC channel; answers each Order with a Count.
 */
import { readdirSync } from 'node:fs';
import { lookup } from 'node:dns';
import type { Resolve } from '../../src/client/transport/address-book.ts';
import { createTransport } from '../../src/client/transport/transport.ts';

export interface Order {
  readonly url: string;
  readonly attempts: number;
  readonly width: number;
  readonly abortAfter: number;
  /** What every name resolves to, or `hang` for ever; by default the system's resolver. */
  readonly resolver?: 'hang' | { readonly address: string };
  readonly dispose?: boolean;
}

export interface Count {
  /** By a status, `aborted`, or the code of an error. */
  readonly ends: Readonly<Record<string, number>>;
  /** During the attempts, and after the last. */
  readonly most: { readonly files: number; readonly open: number };
  readonly left: { readonly files: number; readonly open: number; readonly heap: number };
  readonly warnings: readonly string[];
  /** What would keep the process alive, its IPC channel left out. */
  readonly active: readonly string[];
}

let resolver: Order['resolver'];
const resolve: Resolve = (hostname, options, callback) => {
  if (resolver === undefined) lookup(hostname, options, callback);
  else if (resolver !== 'hang') callback(null, [{ ...resolver, family: 4 }]);
};
const transport = createTransport(resolve);
const warnings: string[] = [];
process.on('warning', ({ name, message }) => {
  // undici says so of its SOCKS5.
  if (name !== 'ExperimentalWarning') warnings.push(message);
});

const hasProc = process.platform === 'linux';
const files = (): number => (hasProc ? readdirSync('/proc/self/fd').length : transport.open);
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

async function attempt(url: string, abortAfter: number): Promise<string> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('aborted')), abortAfter);
  try {
    const plain = { method: 'POST', headers: {}, body: undefined, fresh: false, maxBytes: 1024 };
    const { status } = await transport.exchange({ url, signal: controller.signal, ...plain });
    return String(status);
  } catch (error) {
    if (error === controller.signal.reason) return 'aborted';
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    clearTimeout(timer);
  }
}

async function carryOut({ url, attempts, width, abortAfter, ...order }: Order): Promise<Count> {
  resolver = order.resolver;
  const ends: Record<string, number> = {};
  const most = { files: 0, open: 0 };
  let begun = 0;
  async function oneAfterTheOther(): Promise<void> {
    while (begun < attempts) {
      begun += 1;
      const ended = attempt(url, abortAfter);
      most.open = Math.max(most.open, transport.open);
      const end = await ended;
      ends[end] = (ends[end] ?? 0) + 1;
      most.files = Math.max(most.files, files());
    }
  }
  await Promise.all(Array.from({ length: width }, oneAfterTheOther));
  if (order.dispose) await transport[Symbol.asyncDispose]();
  // Handles are closed in the turn after the one that let them go; what they held can be collected after that.
  for (let index = 0; index < 10; index += 1) await turn();
  // Where nothing was attempted, no heap is compared.
  for (let times = attempts === 0 ? 0 : 2; times > 0; times -= 1) {
    global.gc?.();
    await turn();
  }
  const left = { files: files(), open: transport.open, heap: process.memoryUsage().heapUsed };
  const active = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
  return { ends, most, left, warnings, active };
}

process.on('message', (order: Order) => void carryOut(order).then((count) => process.send?.(count)));
process.send?.('ready');
