/**
 * The addresses of a service or proxy: how exchanges with each ended, and so which one comes next; and how their name is
 * looked up. Times are monotonic ms.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';

export type Subject = string | number;

export interface Place {
  /** `10.0.0.7:443`, or `host:port` while no address is known. */
  readonly address: string;
  readonly isProxy: boolean;
}

export interface AddressState {
  readonly address: string;
  /** Why its last exchange failed, and since when (Unix ms); absent if it did not. */
  readonly failure?: { readonly reason: string; readonly since: number };
}

export interface Candidate {
  readonly address: string;
  readonly good: boolean;
}

interface Entry {
  listedAt: number;
  /** Until some minutes after `at`, other addresses come first. */
  failure: { readonly reason: string; readonly since: number; at: number } | undefined;
  readonly refusals: Map<Subject, number>;
}

const REMEMBER_MS = 5 * 60_000;
const MAX_REFUSALS = 10_000;
/** Bounds of the time until a second connection starts, ms. */
const SHORT_MS = 250;
export const LONG_MS = 2_000;

const NONE: ReadonlySet<string> = new Set();

export class AddressBook {
  proxy: string | undefined;
  #entries = new Map<string, Entry>();
  #resolvedAt = -Infinity;
  #connectMs = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** An address that the resolver drops is kept for some minutes as the last resort. */
  resolved(addresses: readonly string[], now: number): void {
    const before = this.#entries;
    this.#entries = new Map();
    this.#resolvedAt = now;
    for (const address of addresses) {
      const { failure, refusals = new Map<Subject, number>() } = before.get(address) ?? {};
      this.#entries.set(address, { listedAt: now, failure, refusals });
    }
    for (const [address, entry] of before) {
      const isKept = now - entry.listedAt < REMEMBER_MS && !this.#entries.has(address);
      if (isKept) this.#entries.set(address, entry);
    }
  }

  /** Best first: without a failure in the resolver's order, then the longest ago failed; `busy` ones last. */
  order(now: number, subject?: Subject, busy: ReadonlySet<string> = NONE): Candidate[] {
    const ranked = Array.from(this.#entries, ([address, entry]) => {
      const badAt = this.#badAt(entry, now, subject);
      const isBad = badAt !== -Infinity;
      const isGone = entry.listedAt < this.#resolvedAt;
      const rank = (busy.has(address) ? 4 : 0) + (isBad ? 2 : 0) + (isGone ? 1 : 0);
      return { address, good: rank === 0, rank, badAt };
    });
    ranked.sort((a, b) => a.rank - b.rank || a.badAt - b.badAt);
    return ranked.map(({ address, good }) => ({ address, good }));
  }

  /** Whether an idle connection may be used: not while a better address is known. */
  accepts(address: string, now: number, subject?: Subject): boolean {
    const entry = this.#entries.get(address);
    if (entry === undefined || this.#badAt(entry, now, subject) === -Infinity) return true;
    return this.order(now, subject)[0]?.address === address;
  }

  /** Restarts the failure's time, so that one exchange alone tries it again. */
  trying(address: string, now: number): void {
    const failure = this.#entries.get(address)?.failure;
    if (failure) failure.at = now;
  }

  connected(ms: number): void {
    this.#connectMs = ms;
  }

  /** A bad address waits longer: it may connect and stay silent. */
  patience(next: Candidate): number {
    return next.good ? Math.min(LONG_MS, Math.max(SHORT_MS, 2 * this.#connectMs)) : LONG_MS;
  }

  /** An address that did not know the subject goes behind the others. */
  worked(address: string, now: number, subject?: Subject): void {
    const entry = this.#entries.get(address);
    if (entry) entry.failure = undefined;
    if (entry === undefined || subject === undefined) return;
    entry.refusals.delete(subject);
    for (const [other, { refusals }] of this.#entries)
      if (refusals.delete(subject)) this.failed(other, 'not-found', now);
  }

  failed(address: string, reason: string, now: number): void {
    const entry = this.#entries.get(address);
    if (entry) entry.failure = { reason, since: entry.failure?.since ?? now, at: now };
  }

  /** It does not know the subject; others may. */
  refused(address: string, subject: Subject, now: number): void {
    const refusals = this.#entries.get(address)?.refusals;
    if (!refusals) return;
    refusals.delete(subject);
    refusals.set(subject, now);
    const [oldest] = refusals.keys();
    if (refusals.size > MAX_REFUSALS && oldest !== undefined) refusals.delete(oldest);
  }

  states(unixOffset: number): AddressState[] {
    return Array.from(this.#entries, ([address, { failure }]) => ({
      address,
      ...(failure && { failure: { reason: failure.reason, since: Math.round(failure.since + unixOffset) } }),
    }));
  }

  #badAt({ failure, refusals }: Entry, now: number, subject: Subject | undefined): number {
    const refusedAt = (subject !== undefined && refusals.get(subject)) || -Infinity;
    const at = Math.max(failure?.at ?? -Infinity, refusedAt);
    return now - at < REMEMBER_MS ? at : -Infinity;
  }
}

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

/**
 * Resolves names by the system's resolver, with a memory: if it fails or hangs, the last addresses serve. A
 * hang blocks a thread of libuv's pool (node #62503), so a name is asked for once at a time.
 */
export function createLookup(resolve: Resolve = systemLookup): Lookup {
  const known = new Map<string, readonly LookupAddress[]>();
  const waiting = new Map<string, Set<Answer>>();

  function ask(key: string, hostname: string, options: LookupOptions, answer: Answer): void {
    const others = waiting.get(key);
    if (others) return void others.add(answer);
    const answers = new Set([answer]);
    waiting.set(key, answers);
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      waiting.delete(key);
      if (error === null && addresses.length > 0) known.set(key, addresses);
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
