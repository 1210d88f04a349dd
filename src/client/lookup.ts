/**
 * Names to addresses, by the system's resolver, with a memory: when a name stops resolving, or the resolver does
 * not answer (it blocks a thread of libuv's pool: node #62503), the addresses that it had last are as good as any.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';

type Callback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
/** The system's, as `dns.lookup` with `all`. */
export type Resolve = (hostname: string, options: LookupOptions & { all: true }, callback: Callback) => void;

/** A resolver that is slower than this is not waited for where an address is known, ms. */
const PATIENCE = 500;

export function createLookup(resolve: Resolve = systemLookup) {
  const known = new Map<string, LookupAddress[]>();
  return function lookup(hostname: string, options: LookupOptions, callback: Callback): void {
    let answered = false;
    function answer(error: NodeJS.ErrnoException | null, addresses: LookupAddress[]): void {
      if (answered) return;
      answered = true;
      clearTimeout(timer);
      callback(error, addresses);
    }
    const last = known.get(hostname);
    const timer = last && setTimeout(() => answer(null, last), PATIENCE);
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const good = error === null && addresses.length > 0;
      // A late answer serves the next one who asks.
      if (good) known.set(hostname, addresses);
      if (good || last === undefined) answer(error, addresses);
      else answer(null, last);
    });
  };
}
