/**
 * The ways from a heart to the service, each over real sockets of its own and broken one at a time: plain HTTP, TLS
 * to a name, TLS to a name through a proxy, and a name with two addresses. One world has one way.
 */
import type { LookupAddress } from 'node:dns';
import type { Resolve } from '../../../src/client/transport/address-book.ts';
import { hasAddresses, startAddresses } from '../../support/addresses.ts';
import { startFaultProxy, type FaultMode, type FaultProxy } from '../../support/fault-proxy.ts';
import type { ForwardProxy } from '../../support/forward-proxy.ts';

export interface Way extends AsyncDisposable {
  readonly baseUrl: string;
  readonly resolve: Resolve | undefined;
  readonly isAlwaysOpen?: boolean;
  /** What can happen to it; each returns when it has begun. */
  readonly faults: Readonly<Record<string, () => Promise<void> | void>>;
  heal(): Promise<void> | void;
}

/** What all worlds share: where the service is, with and without TLS, and the proxy in front of it. */
export interface Ground {
  readonly httpPort: number;
  readonly tlsPort: number;
  readonly proxy: ForwardProxy;
}

const MODES: readonly FaultMode[] = [
  { kind: 'refuse' },
  { kind: 'hang-at-connect' },
  { kind: 'hang-after-request' },
  { kind: 'hang-in-body' },
  { kind: 'cut-body' },
  { kind: 'reset' },
  { kind: 'half-open' },
  { kind: 'slow', bytesPerSecond: 20 },
];

function faultsOf(network: FaultProxy): Way['faults'] {
  return Object.fromEntries(MODES.map((mode) => [mode.kind, () => network.switchTo(mode)]));
}

export type WayName = 'http' | 'tls' | 'proxied' | 'addresses';

export const WAYS: Readonly<Record<WayName, (ground: Ground, world: number) => Promise<Way>>> = {
  async http({ httpPort }) {
    const network = await startFaultProxy(httpPort);
    return {
      baseUrl: network.url,
      resolve: undefined,
      faults: faultsOf(network),
      heal: () => network.switchTo({ kind: 'pass' }),
      [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
    };
  },

  /** `hang-after-request` takes TCP and never answers TLS; `half-open` forgets what is connected. */
  async tls({ tlsPort }, world) {
    const network = await startFaultProxy(tlsPort);
    const { hostname, port } = new URL(network.url);
    const name = `service-${world}.internal`;
    const resolver = createResolver({ address: hostname, family: 4 });
    return {
      baseUrl: `https://${name}:${port}`,
      resolve: resolver.resolve,
      faults: {
        ...faultsOf(network),
        'name unknown': () => void (resolver.state = 'unknown'),
        'resolver silent': () => void (resolver.state = 'silent'),
      },
      async heal() {
        resolver.state = 'answers';
        await network.switchTo({ kind: 'pass' });
      },
      [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
    };
  },

  async addresses({ httpPort }) {
    const pass: FaultMode = { kind: 'pass' };
    const addresses = await startAddresses(httpPort, [pass, pass]);
    const { proxies, port, resolve } = addresses;
    const faults = proxies.flatMap((network, index) =>
      Object.entries(faultsOf(network)).map(([kind, begin]) => [`${kind} at ${index + 1}`, begin] as const),
    );
    return {
      baseUrl: `http://service.internal:${port}`,
      resolve,
      isAlwaysOpen: true,
      faults: Object.fromEntries(faults),
      heal: async () => void (await Promise.all(proxies.map((network) => network.switchTo(pass)))),
      [Symbol.asyncDispose]: () => addresses[Symbol.asyncDispose](),
    };
  },

  async proxied({ proxy }, world) {
    const name = `proxied-${world}.internal`;
    const become = (mode: ForwardProxy['mode']) => () => {
      proxy.modes.set(name, mode);
      proxy.drop(name);
    };
    return {
      baseUrl: `https://${name}`,
      resolve: undefined,
      faults: {
        'hang in CONNECT': become('hang'),
        'silent tunnel': become('mute'),
        refused: become('refuse'),
      },
      heal: () => void proxy.modes.delete(name),
      [Symbol.asyncDispose]: async () => proxy.drop(name),
    };
  },
};

export const POSSIBLE_WAYS = (Object.keys(WAYS) as WayName[]).filter(
  (name) => name !== 'addresses' || hasAddresses,
);

export function wayOf(seed: number): WayName {
  return POSSIBLE_WAYS[seed % POSSIBLE_WAYS.length] ?? 'http';
}

/** A resolver of one name. What is asked while it is silent is never answered. */
function createResolver(address: LookupAddress) {
  const resolver = {
    state: 'answers' as 'answers' | 'unknown' | 'silent',
    resolve: (...[hostname, , callback]: Parameters<Resolve>): void => {
      const { state } = resolver;
      if (state === 'silent') return;
      const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
      setImmediate(() => (state === 'unknown' ? callback(unknown, []) : callback(null, [address])));
    },
  };
  return resolver;
}
