/**
 * Resolves names by the system's resolver, with a memory: if it fails or hangs, the last addresses serve. A
 * hang blocks a thread of libuv's pool (node #62503), so a name is asked for once at a time.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';

type Answer = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;
/** As node:net calls it: without `all` the answer is one address. */
type Callback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

export type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: Callback,
  signal?: AbortSignal,
) => void;

/** A known address is used if the resolver is slower, ms. */
const ANSWER_WAIT_MS = 500;
const MAX_KNOWN = 64;

export function createLookup(resolve: Resolve = systemLookup): Lookup {
  const known = new Map<string, readonly LookupAddress[]>();
  const waiting = new Map<string, Set<Answer>>();

  function remember(key: string, addresses: readonly LookupAddress[]): void {
    known.delete(key);
    known.set(key, addresses);
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  }

  function ask(key: string, hostname: string, options: LookupOptions, answer: Answer): void {
    const others = waiting.get(key);
    if (others) return void others.add(answer);
    const answers = new Set([answer]);
    waiting.set(key, answers);
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      waiting.delete(key);
      if (error === null && addresses.length > 0) remember(key, addresses);
      for (const one of answers) one(error, addresses);
    });
  }

  return function lookup(hostname, options, callback, signal) {
    if (signal?.aborted) return;
    const key = `${hostname} ${options.family ?? 0}`;
    const last = known.get(key);
    const timer = last && setTimeout(() => finish(null, last), ANSWER_WAIT_MS);
    signal?.addEventListener('abort', forget);
    ask(key, hostname, options, finish);

    function forget(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forget);
      waiting.get(key)?.delete(finish);
    }

    function finish(error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]): void {
      forget();
      if (error === null && addresses.length > 0) deliver(options, callback, addresses);
      else if (last !== undefined) deliver(options, callback, last);
      else callback(error ?? Object.assign(new Error(`${hostname} has no address`), { code: 'ENODATA' }), []);
    }
  };
}

function deliver({ all }: LookupOptions, callback: Callback, addresses: readonly LookupAddress[]): void {
  const [first] = addresses;
  if (all) callback(null, [...addresses]);
  else callback(null, first?.address ?? '', first?.family);
}
