/** A call to a name with several addresses, each over real sockets and with a fault of its own. */
import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { createTransport, type Exchange, type Transport } from '../../../src/client/transport/transport.ts';
import { hasAddresses, startAddresses, type Addresses } from '../../support/addresses.ts';
import { exchangeOf } from '../../support/answering-transport.ts';
import { until } from '../../support/daemon.ts';
import type { FaultMode } from '../../support/fault-proxy.ts';
import { listening } from '../../support/listening.ts';
import { describeWith } from '../../support/optional.ts';

const PASS: FaultMode = { kind: 'pass' };
const SILENT: FaultMode = { kind: 'hang-after-request' };
const DROPPED: FaultMode = { kind: 'hang-at-connect' };
const REFUSED: FaultMode = { kind: 'refuse' };

const service = await listening(createServer((_, response) => response.end('{}')));
afterAll(() => service[Symbol.asyncDispose]());

describeWith(
  '127.0.0.0/8',
  hasAddresses,
  'run it on Linux',
)('a call without a retry', () => {
  const call = (transport: Transport, { port }: Addresses, more: Partial<Exchange> = {}) =>
    transport.exchange(exchangeOf(`http://service.internal:${port}/`, { fresh: true, ...more }));

  test.concurrent.each<[what: string, faults: readonly FaultMode[]]>([
    ['drops packets', [DROPPED, PASS]],
    ['refuses connections', [REFUSED, PASS]],
  ])('is answered although the first address %s', async (_, faults) => {
    await using addresses = await startAddresses(service.port, faults);
    await using transport = createTransport(addresses.resolve);
    const { peer } = await call(transport, addresses);
    expect(peer).toMatchObject({ address: addresses.listed.at(-1), addresses: faults.length });
    const bad = transport.addresses()[0]?.addresses.slice(0, -1);
    expect(bad?.filter(({ failure }) => failure === undefined)).toEqual([]);
    // The next one does not wait for the others.
    await call(transport, addresses);
    expect(addresses.proxies.at(-1)?.taken).toBe(2);
  });

  test.concurrent('uses another address than one about the same thing that is not answered yet', async () => {
    await using addresses = await startAddresses(service.port, [SILENT, PASS]);
    await using transport = createTransport(addresses.resolve);
    const [first] = addresses.proxies;
    const hanging = Promise.allSettled([call(transport, addresses, { subject: 'one' })]);
    await until(() => first?.taken === 1);
    const { peer } = await call(transport, addresses, { subject: 'one' });
    expect(peer?.address).toBe(addresses.listed[1]);
    // Nothing is known against the first one yet.
    void call(transport, addresses, { subject: 'another' }).catch(() => {});
    await until(() => first?.taken === 2);
    await transport[Symbol.asyncDispose]();
    await hanging;
  });

  test.concurrent('does not reuse the connection to an address that was judged bad', async () => {
    await using addresses = await startAddresses(service.port, [PASS, PASS]);
    await using transport = createTransport(addresses.resolve);
    const [first] = addresses.proxies;
    const reusing = () => call(transport, addresses, { fresh: false });
    const { peer } = await reusing();
    peer?.judge();
    await reusing();
    expect(first?.taken).toBe(1);
    peer?.judge('status 503');
    expect((await reusing()).peer?.address).toBe(addresses.listed[1]);
    expect(first?.taken).toBe(1);
  });
});
