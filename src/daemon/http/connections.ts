/** Bounds connections, so that none keeps another waiting. The longest silent one makes room for a probe. */
import type { ServerOptions, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** Node checks these at each `connectionsCheckingInterval`. */
export const CONNECTION_TIMES = {
  /** From the connection, or the first byte, to the end of the headers. */
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const satisfies ServerOptions;

/** For the client to read an answer. */
const READING_MS = 60_000;

export class Connections {
  readonly #limit: number;
  /** No request, or answered; the oldest first. */
  readonly #waiting = new Set<Socket>();
  /** With a request under way, complete or not. */
  readonly #asking = new WeakSet<Socket>();
  /** Being answered; the oldest first. */
  readonly #answered = new Map<Socket, ServerResponse>();

  constructor(server: Server, limit: number) {
    this.#limit = limit;
    server.on('connection', (socket: Socket) => this.#admit(socket));
  }

  /** False while the previous request of the connection has no answer: a client can pipeline thousands. */
  begins(socket: Socket, response: ServerResponse): boolean {
    if (this.#asking.has(socket)) return false;
    this.#asking.add(socket);
    response.once('close', () => this.#asking.delete(socket));
    return true;
  }

  /** A complete request came: until it is answered, its connection makes room for no other. */
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

  /** A client that reads its answer has had time; one whose answer is being made has not. */
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
