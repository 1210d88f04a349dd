/**
 * Asks the app beside this process again and again, and decides whether it needs the deployments. It goes through no
 * proxy: a proxy that is down would look like a dead app.
 */
import type { CancelTimer, Ports } from './driver/ports.ts';
import { createConnection, type Socket } from 'node:net';
import { createLookup, type Lookup } from '../client/transport/address-book.ts';
import { transportReason, type TransportReason } from '../client/errors.ts';
import { createSocketClient } from '../client/transport/undici.ts';
import type { AppSnapshot } from './view/snapshot.ts';

/** A second may save a deployment whose heartbeats are withheld. */
export const ASK_EVERY = 5_000;
export const ASK_WITHHELD_EVERY = 1_000;
export const ANSWER_WITHIN = 2_000;

/** From one answer to the next if nothing held up this process, and a timer was a second late, ms. */
const LONGEST_LOOK = ASK_EVERY + ANSWER_WITHIN + 1_000;
const LEAST_MISSES = 2;

/** The grace counts time in which the app could be asked: no sleep, no pause, no step of a clock. */
export interface AppHealth {
  readonly grace: number;
  readonly unhealthyMs: number;
  readonly misses: number;
  /** When the last answer came, or when it all began: monotonic ms. */
  readonly heardAt: number;
  readonly withheld: boolean;
}

export function observeApp(health: AppHealth, isHealthy: boolean, mono: number): AppHealth {
  if (isHealthy) return { ...health, unhealthyMs: 0, misses: 0, heardAt: mono, withheld: false };
  const lookMs = Math.max(0, Math.min(mono - health.heardAt, LONGEST_LOOK));
  const { unhealthyMs, misses } = health;
  return decide({ ...health, unhealthyMs: unhealthyMs + lookMs, misses: misses + 1, heardAt: mono });
}

function decide(health: AppHealth): AppHealth {
  return { ...health, withheld: health.misses >= LEAST_MISSES && health.unhealthyMs >= health.grace };
}

interface AppWatchOptions {
  readonly grace: number;
  readonly ports: Pick<Ports, 'clock' | 'setTimer'>;
  /** Must end, with all that it has open, when the signal fires. Its rejection is a bad answer. */
  readonly ask: (signal: AbortSignal) => Promise<AppAnswer>;
  readonly onHealth: (health: AppHealth, before: AppHealth) => void;
}

const LATE: AppAnswer = { healthy: false, why: `no answer within ${ANSWER_WITHIN / 1000} s` };
const FAILED: AppAnswer = { healthy: false, why: 'it could not be asked' };

export class AppWatch {
  readonly #options: AppWatchOptions;
  readonly #open = new Set<AbortController>();
  health: AppHealth;
  why: string | undefined;
  #hasAnswered = false;
  #askedAt = -Infinity;
  #cancel: CancelTimer;

  constructor(options: AppWatchOptions) {
    this.#options = options;
    // The grace of an app that never was healthy counts from the start.
    const heardAt = options.ports.clock.mono();
    this.health = { grace: options.grace, unhealthyMs: 0, misses: 0, heardAt, withheld: false };
    // In a turn of its own: the first heartbeats leave before.
    this.#cancel = options.ports.setTimer(0, () => this.#ask());
  }

  setGrace(grace: number): void {
    if (grace !== this.health.grace) this.#become(decide({ ...this.health, grace }));
  }

  snapshot(): AppSnapshot {
    const { withheld, unhealthyMs, grace } = this.health;
    const answered = this.why === undefined ? 'healthy' : 'unhealthy';
    const state = withheld ? 'withheld' : this.#hasAnswered ? answered : 'unknown';
    return { state, unhealthyMs, graceMs: grace, why: this.why };
  }

  stop(): void {
    this.#cancel();
    for (const question of this.#open) this.#drop(question);
  }

  /** If heartbeats are withheld, the next question does not wait for this one. */
  #ask(): void {
    const { ports, ask } = this.#options;
    const question = new AbortController();
    this.#open.add(question);
    this.#askedAt = ports.clock.mono();
    const cancel = ports.setTimer(ANSWER_WITHIN, () => this.#hear(question, LATE));
    question.signal.addEventListener('abort', cancel);
    const hear = (answer: AppAnswer): void => this.#hear(question, answer);
    void (async () => ask(question.signal))().then(hear, () => hear(FAILED));
    this.#arm();
  }

  #arm(): void {
    const { clock, setTimer } = this.#options.ports;
    this.#cancel();
    const everyMs = this.health.withheld ? ASK_WITHHELD_EVERY : ASK_EVERY;
    const waitMs = this.#askedAt + everyMs - clock.mono();
    this.#cancel = setTimer(Math.max(0, waitMs), () => this.#ask());
  }

  #hear(question: AbortController, answer: AppAnswer): void {
    if (!this.#open.has(question)) return;
    this.#drop(question);
    // Older questions could only bring older news.
    if (answer.healthy) for (const other of this.#open) this.#drop(other);
    this.#hasAnswered = true;
    this.why = answer.healthy ? undefined : answer.why;
    this.#become(observeApp(this.health, answer.healthy, this.#options.ports.clock.mono()));
  }

  #become(health: AppHealth): void {
    const before = this.health;
    this.health = health;
    this.#arm();
    this.#options.onHealth(health, before);
  }

  #drop(question: AbortController): void {
    this.#open.delete(question);
    question.abort();
  }
}

export type AppAnswer =
  | { readonly healthy: true }
  /** In words, without anything that the address holds. */
  | { readonly healthy: false; readonly why: string };

/** The rest of a longer body is not read: the status is known. */
const BODY_BYTES = 64 * 1024;
const HEADER_BYTES = 16 * 1024;

const WORDS: Readonly<Record<TransportReason, string>> = {
  dns: 'its name does not resolve',
  tls: 'the TLS handshake failed',
  reset: 'the connection was closed',
  refused: 'it refuses connections',
  unreachable: 'it cannot be reached',
  proxy: 'it cannot be reached',
  'too-large': 'its answer was too large',
  malformed: 'its answer is not a complete HTTP response',
  other: 'its answer is not a complete HTTP response',
};

const WELL: AppAnswer = { healthy: true };

export function createAskApp(address: string): (signal: AbortSignal) => Promise<AppAnswer> {
  const url = new URL(address);
  const lookup = createLookup();
  return async (signal) => {
    try {
      return await (url.protocol === 'tcp:' ? connect(url, lookup, signal) : get(url, lookup, signal));
    } catch (error) {
      return { healthy: false, why: WORDS[transportReason(error as Error)] };
    }
  };
}

function lookupUntil(lookup: Lookup, signal: AbortSignal): Lookup {
  return (hostname, options, callback) => lookup(hostname, options, callback, signal);
}

function connect(url: URL, lookup: Lookup, signal: AbortSignal): Promise<AppAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<AppAnswer>();
  const socket: Socket = createConnection({
    host: hostOf(url),
    port: Number(url.port),
    lookup: lookupUntil(lookup, signal),
  });
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end);
  socket.once('connect', () => resolve(WELL)).once('error', reject);
  socket.once('close', () => reject(new Error('closed')));
  return promise.finally(end);
}

async function get(url: URL, lookup: Lookup, signal: AbortSignal): Promise<AppAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<AppAnswer>();
  const life = new AbortController();
  const client = createSocketClient(url.origin, {
    pipelining: 0,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADER_BYTES,
    maxCachedSessions: 0,
    // What Node and undici both call `signal` ends a socket, whatever it is doing.
    connect: { signal: life.signal, timeout: 0, lookup: lookupUntil(lookup, life.signal) },
  });
  let answer: AppAnswer = WELL;
  let left = BODY_BYTES;
  client.dispatch(
    { path: url.pathname + url.search, method: 'GET', headers: headersOf(url), body: null },
    {
      // undici takes no handler without it.
      onRequestStart() {},
      onResponseStart(_, status) {
        if (status >= 200) answer = answerTo(status);
      },
      onResponseData(_, chunk) {
        left -= chunk.length;
        if (left < 0) resolve(answer);
      },
      onResponseEnd: () => resolve(answer),
      onResponseError: (_, error) => reject(error),
    },
  );
  const end = (): void => reject(new Error('not wanted any more'));
  signal.addEventListener('abort', end);
  try {
    return await promise;
  } finally {
    // First, for a living client would connect again.
    void client.destroy(new Error('asked')).catch(() => {});
    life.abort();
  }
}

function answerTo(status: number): AppAnswer {
  if (status < 300) return WELL;
  if (status >= 400) return { healthy: false, why: `it answers with status ${status}` };
  return { healthy: false, why: `it answers with status ${status}, and redirects are not followed` };
}

function headersOf({ username, password }: URL): Record<string, string> {
  const headers = { 'user-agent': 'pilotlight', accept: '*/*' };
  if (username === '' && password === '') return headers;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { ...headers, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
