/** Log lines about addresses of the service that are avoided: one when it begins, one when an address works again. */
import type { OriginAddresses } from '../../../client/transport/transport.ts';
import type { HeartLog } from './log.ts';

/** An address that comes and goes is not named again within this time, ms. */
const RARELY_MS = 10 * 60_000;

export class AddressLines {
  readonly #log: HeartLog;
  readonly #addresses: () => readonly OriginAddresses[];
  /** When each was logged as avoided, and whether it was logged since that it works. */
  readonly #said = new Map<string, { readonly at: number; isBack: boolean }>();

  constructor(log: HeartLog, addresses: () => readonly OriginAddresses[]) {
    this.#log = log;
    this.#addresses = addresses;
  }

  /** To be called every few seconds. A single address is not avoided, whatever happened to it. */
  look(): void {
    const now = performance.now();
    const avoided = new Set<string>();
    for (const { origin, proxy, addresses } of this.#addresses()) {
      if (addresses.length < 2) continue;
      for (const { address, failure } of addresses) {
        const key = `${origin} ${address}`;
        const said = this.#said.get(key);
        const fields = { origin, address, ...(proxy !== undefined && { proxy }) };
        if (failure) {
          avoided.add(key);
          if (said && (!said.isBack || now - said.at < RARELY_MS)) continue;
          this.#said.set(key, { at: now, isBack: false });
          const since = new Date(failure.since).toISOString();
          this.#log.warn({ ...fields, reason: failure.reason, since }, 'an address failed and is avoided');
        } else if (said?.isBack === false) {
          said.isBack = true;
          this.#log.info(fields, 'an address works again');
        }
      }
    }
    for (const [key, { at }] of this.#said)
      if (!avoided.has(key) && now - at >= RARELY_MS) this.#said.delete(key);
  }
}
