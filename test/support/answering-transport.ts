/** A transport without a network: what it is asked is answered as a test says. */
import type { ClientOptions } from '../../src/client/caller.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import type { Exchange, Transport } from '../../src/client/transport/transport.ts';
import type { WireResponse } from '../../src/wire/response.ts';

export function answer(status: number, body: unknown, headers: WireResponse['headers'] = {}): WireResponse {
  return { status, headers, text: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** What a transport is asked, if only its address matters. */
export function exchangeOf(url: string, more: Partial<Exchange> = {}): Exchange {
  const { signal } = new AbortController();
  const plain = { method: 'GET', headers: {}, body: undefined, fresh: false, maxBytes: 1_000 };
  return { url, signal, ...plain, ...more };
}

type Answer = WireResponse | Error | ((exchange: Exchange) => WireResponse | Promise<WireResponse>);

export class AnsweringTransport implements Transport {
  readonly open = 0;
  readonly asked: Exchange[] = [];
  isDisposed = false;
  readonly #answers: Answer[];

  /** One after the other; the last one stays. */
  constructor(...answers: readonly Answer[]) {
    this.#answers = [...answers];
  }

  /** A client that asks over it. */
  client(options: Partial<ClientOptions> = {}): Client {
    return createClient({ baseUrl: 'http://a.test', apiKey: 'key', transport: this, ...options });
  }

  /** `GET /path`, in the order in which they came. */
  get calls(): string[] {
    return this.asked.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
  }

  /** Bodies that were sent. */
  get sent(): unknown[] {
    return this.asked.map(({ body }) =>
      typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined,
    );
  }

  addresses(): [] {
    return [];
  }

  async exchange(exchange: Exchange): Promise<WireResponse> {
    this.asked.push(exchange);
    const [next] = this.#answers.length > 1 ? this.#answers.splice(0, 1) : this.#answers;
    if (next instanceof Error) throw next;
    if (next === undefined) throw new Error('no answer is given');
    return typeof next === 'function' ? await next(exchange) : next;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true;
    return Promise.resolve();
  }
}

/** Until the exchange is aborted, which it then rejects with. */
export function never({ signal }: Exchange): Promise<WireResponse> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}
