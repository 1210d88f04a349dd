/**
 * What is known of the addresses of one service, or of the proxy in front of it: how exchanges with each ended, and so
 * which one comes next. A TCP connect alone shows little: an address may take it and stay silent, answer 503, or be a
 * backend that does not know a deployment. Plain memory: times are handed in, in monotonic ms.
 */

/** What a request is about, such as the id of a deployment. */
export type Subject = string | number;

/** Whom an exchange is with. */
export interface Place {
  /** `10.0.0.7:443`, or `host:port` while no address of it is known. */
  readonly address: string;
  /** It is the proxy in front of the service. */
  readonly isProxy: boolean;
}

export interface AddressState {
  /** An IP address. */
  readonly address: string;
  /** False if the resolver's last answer did not have it any more. */
  readonly listed: boolean;
  /** How its last exchange ended, and since when none has ended well (Unix ms); absent if the last one did. */
  readonly failure?: { readonly reason: string; readonly since: number };
}

/** An address to connect to. */
export interface Candidate {
  readonly address: string;
  /** Nothing speaks against it. */
  readonly good: boolean;
}

interface Entry {
  listedAt: number;
  /** `at`: until some minutes after this, other addresses come first. */
  failure: { readonly reason: string; readonly since: number; at: number } | undefined;
  /** When it last said that there is no such thing. */
  readonly refusals: Map<Subject, number>;
}

/** How long a failure counts, ms. */
const REMEMBER_MS = 5 * 60_000;
/** How many addresses and refusals are kept. More than 10,000 deployments are too many for one process anyway. */
const MAX_ADDRESSES = 32;
const MAX_REFUSALS = 10_000;
/** Bounds of the time that a connection has for itself before another one starts beside it, ms. */
const SHORT_MS = 250;
export const LONG_MS = 2_000;

const NONE: ReadonlySet<string> = new Set();

export class AddressBook {
  /** `host:port` of the proxy whose addresses these are; undefined if they are the service's own. */
  proxy: string | undefined;
  /** In the resolver's order. */
  #entries = new Map<string, Entry>();
  #resolvedAt = -Infinity;
  #connectMs = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** The resolver's answer. An address that it does not have any more is kept for some minutes, as the last resort. */
  resolved(addresses: readonly string[], now: number): void {
    const before = this.#entries;
    this.#entries = new Map();
    this.#resolvedAt = now;
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      const { failure, refusals = new Map<Subject, number>() } = before.get(address) ?? {};
      this.#entries.set(address, { listedAt: now, failure, refusals });
    }
    for (const [address, entry] of before) {
      if (this.#entries.size >= MAX_ADDRESSES) break;
      const isKept = now - entry.listedAt < REMEMBER_MS && !this.#entries.has(address);
      if (isKept) this.#entries.set(address, entry);
    }
  }

  /**
   * All addresses, the best one first: those without a failure in the resolver's order, then by how long ago they
   * failed. Those in `busy` come last: another attempt about the same subject uses them.
   */
  order(now: number, subject?: Subject, busy: ReadonlySet<string> = NONE): Candidate[] {
    const ranked = Array.from(this.#entries, ([address, entry]) => {
      const badAt = this.#badAt(entry, now, subject);
      const isBad = badAt !== -Infinity;
      const isGone = entry.listedAt < this.#resolvedAt;
      const rank = (busy.has(address) ? 4 : 0) + (isBad ? 2 : 0) + (isGone ? 1 : 0);
      return { address, good: rank === 0, rank, badAt };
    });
    ranked.sort((a, b) => a.rank - b.rank || (a.badAt < b.badAt ? -1 : Number(a.badAt > b.badAt)));
    return ranked.map(({ address, good }) => ({ address, good }));
  }

  /** Whether an idle connection to an address may be used: not while a better address is known. */
  accepts(address: string, now: number, subject?: Subject): boolean {
    const entry = this.#entries.get(address);
    if (entry === undefined || this.#badAt(entry, now, subject) === -Infinity) return true;
    return this.order(now, subject)[0]?.address === address;
  }

  /** A connection to it begins. Once its failure has become old, one exchange alone finds out whether it works again. */
  trying(address: string, now: number): void {
    const failure = this.#entries.get(address)?.failure;
    if (failure) failure.at = now;
  }

  /** It took this long to connect, ms. */
  connected(ms: number): void {
    this.#connectMs = ms;
  }

  /**
   * How long to wait for a connection before one to `next` starts beside it, ms. A bad address waits longer: it may take
   * connections and stay silent, and would win against a good one that is far away.
   */
  patience(next: Candidate): number {
    return next.good ? Math.min(LONG_MS, Math.max(SHORT_MS, 2 * this.#connectMs)) : LONG_MS;
  }

  /** An address that did not know the subject is behind the others, so that other subjects avoid it as well. */
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

  /** It said that there is no such thing, which others may still know. */
  refused(address: string, subject: Subject, now: number): void {
    const refusals = this.#entries.get(address)?.refusals;
    if (!refusals) return;
    refusals.delete(subject);
    refusals.set(subject, now);
    const [oldest] = refusals.keys();
    if (refusals.size > MAX_REFUSALS && oldest !== undefined) refusals.delete(oldest);
  }

  /** `unixOffset`: from the times that were handed in to Unix ms. */
  states(unixOffset: number): AddressState[] {
    return Array.from(this.#entries, ([address, { listedAt, failure }]) => ({
      address,
      listed: listedAt === this.#resolvedAt,
      ...(failure && { failure: { reason: failure.reason, since: Math.round(failure.since + unixOffset) } }),
    }));
  }

  /** When it last failed, as far as that still counts; -Infinity if it does not. */
  #badAt({ failure, refusals }: Entry, now: number, subject: Subject | undefined): number {
    const refusedAt = (subject !== undefined && refusals.get(subject)) || -Infinity;
    const at = Math.max(failure?.at ?? -Infinity, refusedAt);
    return now - at < REMEMBER_MS ? at : -Infinity;
  }
}
