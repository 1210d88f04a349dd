/**
 * The connections of a listener, bounded in number and time, so that none of them keeps another waiting. Where there
 * are too many, the one that has been silent longest makes room: a probe that has just come is heard at once, however
 * many others hold a connection open and ask nothing, never finish asking, or do not read what they asked for.
 */
import type { ServerOptions, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** Time for what a client has to do, ms. Node looks at them each `connectionsCheckingInterval`. */
export const CONNECTION_TIMES = {
  /** From the connection, or the first byte of a request, to the end of its headers. */
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  /** Between two requests. */
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const satisfies ServerOptions;

/** How long a client may take to read an answer, ms. */
const READING_MS = 60_000;

export class Connections {
  readonly #limit: number;
  /** Those that no whole request has come from, or whose last answer has gone: the oldest first. */
  readonly #waiting = new Set<Socket>();
  /** Those with a request under way, whole or not. */
  readonly #asking = new WeakSet<Socket>();
  /** Those that are answered: the oldest first. */
  readonly #answered = new Map<Socket, ServerResponse>();

  /** @param limit The most that are open at once. */
  constructor(server: Server, limit: number) {
    this.#limit = limit;
    server.on('connection', (socket: Socket) => this.#admit(socket));
  }

  /** False where the request before it, on the same connection, has no answer yet: thousands can be sent at once. */
  begins(socket: Socket, response: ServerResponse): boolean {
    if (this.#asking.has(socket)) return false;
    this.#asking.add(socket);
    response.once('close', () => this.#asking.delete(socket));
    return true;
  }

  /** A whole request has come: until there is an answer for it, its connection makes room for no other. */
  answering(socket: Socket, response: ServerResponse): void {
    if (!this.#waiting.delete(socket)) return;
    this.#answered.set(socket, response);
    const overdue = setTimeout(() => socket.destroy(), READING_MS);
    response.once('close', () => {
      clearTimeout(overdue);
      this.#answered.delete(socket);
      if (!socket.destroyed) this.#waiting.add(socket);
    });
  }

  #admit(socket: Socket): void {
    if (this.#waiting.size + this.#answered.size >= this.#limit) {
      const silent = this.#mostSilent();
      if (silent === undefined) {
        socket.destroy();
        return;
      }
      this.#forget(silent);
      silent.destroy();
    }
    this.#waiting.add(socket);
    socket.once('close', () => this.#forget(socket));
  }

  /** One that reads its answer has had a moment for it; one whose answer is being made has not. */
  #mostSilent(): Socket | undefined {
    const [waiting] = this.#waiting;
    if (waiting) return waiting;
    for (const [socket, response] of this.#answered) if (response.writableEnded) return socket;
    return undefined;
  }

  #forget(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#answered.delete(socket);
  }
}
