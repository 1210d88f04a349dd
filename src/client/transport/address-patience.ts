/**
 * How long one address of a name that has several may take to connect, before Node gives it up for the next one. Its
 * quarter of a second is less than a far network takes: where the address behind it is dead, no connection is ever made
 * (node #54359). So connections that fail take turns: every second one waits long enough for any network.
 */
import { getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/** TCP and TLS take three round trips, and one packet of TCP may be lost, ms. */
const LONG_MS = 2_000;

export class AddressPatience {
  /** Node's own, which a flag may have set, ms. */
  readonly #short = getDefaultAutoSelectFamilyAttemptTimeout();
  readonly #long = Math.max(LONG_MS, this.#short);
  #ms = this.#short;

  /** For the next connection. */
  get ms(): number {
    return this.#ms;
  }

  /** A connection that waited `used` for each address was not made: the next one waits as long as this one did not. */
  failed(used: number): void {
    if (used === this.#ms) this.#ms = used === this.#short ? this.#long : this.#short;
  }

  /** It was made, after so many ms in all. Where that is longer than the patience, the first address was waited for in vain. */
  connected(used: number, afterMs: number): void {
    this.#ms = afterMs < used ? used : this.#short;
  }
}
