/**
 * Names to addresses, by the system's resolver, with a memory: when a name stops resolving, or the resolver does
 * not answer (it blocks a thread of libuv's pool: node #62503), the addresses that it had last are as good as any.
 * A name is asked for once at a time, however many wait for it: a resolver that hangs has one of those threads.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';

type Answer = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;
/** The system's, as `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;
/** As node:net calls it: without `all` (`--no-network-family-autoselection`) the answer is one address. */
type Callback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** `signal` ends the wait: `callback` is not called then, and nothing of it is kept. */
export type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: Callback,
  signal?: AbortSignal,
) => void;

/** A resolver that is slower than this is not waited for where an address is known, ms. */
const ANSWER_WAIT_MS = 500;
/** Names whose addresses are remembered; a service has two. */
const MAX_KNOWN = 64;

export function createLookup(resolve: Resolve = systemLookup): Lookup {
  const known = new Map<string, readonly LookupAddress[]>();
  /** By question: the callbacks that wait for its answer. */
  const waiting = new Map<string, Set<Answer>>();

  function remember(key: string, addresses: readonly LookupAddress[]): void {
    known.delete(key);
    known.set(key, addresses);
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  }

  /** Joins the question that is under way, or asks it. */
  function ask(key: string, hostname: string, options: LookupOptions, answer: Answer): void {
    const others = waiting.get(key);
    if (others) return void others.add(answer);
    const answers = new Set([answer]);
    waiting.set(key, answers);
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      waiting.delete(key);
      // Also when no callback waits any more: a late answer is used by the next question.
      if (error === null && addresses.length > 0) remember(key, addresses);
      for (const one of answers) one(error, addresses);
    });
  }

  return function lookup(hostname, options, callback, signal) {
    if (signal?.aborted) return;
    const key = `${hostname} ${options.family ?? 0}`;
    const last = known.get(key);
    const timer = last && setTimeout(() => settle(null, last), ANSWER_WAIT_MS);
    signal?.addEventListener('abort', forget);
    ask(key, hostname, options, settle);

    function forget(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', forget);
      waiting.get(key)?.delete(settle);
    }

    function settle(error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]): void {
      forget();
      if (error === null && addresses.length > 0) deliver(options, callback, addresses);
      else if (last !== undefined) deliver(options, callback, last);
      else callback(error ?? noAddress(hostname), []);
    }
  };
}

function deliver({ all }: LookupOptions, callback: Callback, addresses: readonly LookupAddress[]): void {
  const [first] = addresses;
  if (all) callback(null, [...addresses]);
  else callback(null, first?.address ?? '', first?.family);
}

function noAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENODATA' });
}
