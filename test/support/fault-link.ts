/** One connection through the fault proxy, and what a mode does to the bytes on it. */
import { connect, type Socket } from 'node:net';

export type FaultMode =
  | { readonly kind: 'pass' }
  /** Nobody listens; what was open is reset. */
  | { readonly kind: 'refuse' }
  /** No handshake ends, because the queue of the listening socket is full; what was open goes silent. */
  | { readonly kind: 'hang-at-connect' }
  | { readonly kind: 'hang-after-request' }
  /** Answered with these bytes, and not forwarded. */
  | { readonly kind: 'answer'; readonly bytes: string }
  /** The answer comes with its headers and half of its body. */
  | { readonly kind: 'hang-in-body' }
  | { readonly kind: 'cut-body' }
  /** RST: to what was open at once, to others with their first byte. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'half-open' }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number };

const STEP_MS = 100;
const HEADERS_END = '\r\n\r\n';

/**
 * A link that a fault has silenced stays silent when the fault has passed, as when a firewall has forgotten the
 * connection: whoever waits for it waits for ever.
 */
export class FaultLink {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #mode: () => FaultMode;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Bytes on their slow way, by the socket that they go to. */
  readonly #slow = new Map<Socket, Buffer>();
  #answer = Buffer.alloc(0);
  #silent = false;

  constructor(client: Socket, port: number, mode: () => FaultMode, closed: () => void) {
    this.#client = client;
    this.#upstream = connect({ host: '127.0.0.1', port, noDelay: true });
    this.#mode = mode;
    client.setNoDelay(true);
    for (const socket of [client, this.#upstream]) socket.on('error', () => {});
    client.on('data', (chunk: Buffer) => this.#fromClient(chunk));
    this.#upstream.on('data', (chunk: Buffer) => this.#fromUpstream(chunk));
    this.#upstream.on('close', () => {
      if (!this.#silent && !this.#slow.has(client)) client.end();
    });
    client.on('close', () => {
      this.#upstream.destroy();
      for (const timer of this.#timers) clearTimeout(timer);
      closed();
    });
  }

  silence(): void {
    this.#silent = true;
  }

  reset(): void {
    this.#client.resetAndDestroy();
  }

  close(): void {
    this.#client.destroy();
  }

  #fromClient(chunk: Buffer): void {
    if (this.#silent) return;
    const mode = this.#mode();
    if (mode.kind === 'reset') this.reset();
    else if (mode.kind === 'hang-after-request') this.silence();
    else if (mode.kind === 'answer') this.#client.write(mode.bytes);
    else this.#carry(this.#upstream, chunk, mode);
  }

  #fromUpstream(chunk: Buffer): void {
    if (this.#silent) return;
    const mode = this.#mode();
    if (mode.kind !== 'hang-in-body' && mode.kind !== 'cut-body') this.#carry(this.#client, chunk, mode);
    else this.#halve(chunk, mode.kind);
  }

  #halve(chunk: Buffer, kind: 'hang-in-body' | 'cut-body'): void {
    this.#answer = Buffer.concat([this.#answer, chunk]);
    const end = this.#answer.indexOf(HEADERS_END);
    const body = this.#answer.length - end - HEADERS_END.length;
    if (end < 0 || body < 2) return;
    this.silence();
    const part = this.#answer.subarray(0, this.#answer.length - Math.ceil(body / 2));
    if (kind === 'cut-body') this.#client.end(part);
    else this.#client.write(part);
  }

  #carry(to: Socket, chunk: Buffer, mode: FaultMode): void {
    const before = this.#slow.get(to);
    if (before !== undefined || mode.kind === 'slow') {
      this.#slow.set(to, Buffer.concat([before ?? Buffer.alloc(0), chunk]));
      if (before === undefined) this.#trickle(to);
    } else this.#write(to, chunk);
  }

  #trickle(to: Socket): void {
    const waiting = this.#slow.get(to);
    if (waiting === undefined || waiting.length === 0) {
      this.#slow.delete(to);
      if (this.#upstream.destroyed) this.#client.end();
      return;
    }
    const mode = this.#mode();
    const bytes = mode.kind === 'slow' ? Math.ceil((mode.bytesPerSecond * STEP_MS) / 1000) : waiting.length;
    this.#write(to, waiting.subarray(0, bytes));
    this.#slow.set(to, waiting.subarray(bytes));
    this.#later(STEP_MS, () => this.#trickle(to));
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }

  #write(to: Socket, chunk: Buffer): void {
    if (!this.#silent && to.writable) to.write(chunk);
  }
}
