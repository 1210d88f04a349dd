/** A name with several addresses, each with a fault of its own, in front of a port of this machine. */
import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Resolve } from '../../src/client/transport/address-book.ts';
import { randomHost, startFaultProxy, type FaultMode, type FaultProxy } from './fault-proxy.ts';

export interface Addresses extends AsyncDisposable {
  readonly port: number;
  /** What any name resolves to, in this order; may be changed. */
  listed: readonly string[];
  readonly resolve: Resolve;
  /** What happens at each, in the order of `listed` at the start. */
  readonly proxies: readonly FaultProxy[];
}

/** All of 127.0.0.0/8 is this machine on Linux alone. */
export const hasAddresses = process.platform === 'linux';
export const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

/** `hosts`: where to listen instead of random addresses of 127.0.0.0/8. */
export async function startAddresses(
  target: number,
  faults: readonly FaultMode[],
  hosts = faults.map(() => randomHost()),
): Promise<Addresses> {
  const port = randomInt(20_000, 32_000);
  const proxies: FaultProxy[] = [];
  for (const [index, fault] of faults.entries()) {
    const proxy = await startFaultProxy(target, { host: hosts[index] ?? '', port });
    proxies.push(proxy);
    await proxy.switchTo(fault);
  }
  const addresses: Addresses = {
    port,
    proxies,
    listed: hosts,
    resolve: (_hostname, _options, callback) =>
      setImmediate(() =>
        callback(
          null,
          addresses.listed.map((address) => ({ address, family: isIP(address) })),
        ),
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
    },
  };
  return addresses;
}
