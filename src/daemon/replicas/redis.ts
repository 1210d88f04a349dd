/** Redis as the replicas use it: raw commands, each bounded in time, and no queue while it is away. */
import type { Logger } from 'pino';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { troubleLevel } from '../../time/repeating.ts';
import { NoAnswer, systemClock, within } from '../../time/clock.ts';

const NEVER = new AbortController().signal;
const TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
const LONGEST_WAIT_MS = 2_000;
const PING_MS = 2_000;
const SILENT_MS = 6_000;
/**
 * The server is not the primary, or not yet. After a failover behind one address, only a new connection reaches the new
 * primary. Scripts have the word within a sentence.
 */
const NOT_PRIMARY = /\b(?:READONLY|LOADING|MASTERDOWN)\b/;

const MESSAGES = {
  redis_away: 'no connection to Redis',
  redis_silent: `no answer from Redis in ${TIMEOUT_MS} ms`,
  redis_forgot:
    'Redis may have lost something: the replica that held the lease last is waited for, some seconds at most',
  redis_behind: 'Redis has lost some of what the replicas keep in it',
  redis_slow: 'Redis answers too slowly: the lease ran out before the logs were read',
  lease_lost: 'this replica does not hold the lease any more',
} as const;

export class RedisError extends PilotlightError {
  readonly code: keyof typeof MESSAGES;
  readonly actor = 'service';

  constructor(code: keyof typeof MESSAGES, cause?: unknown) {
    super(MESSAGES[code], { cause });
    this.code = code;
  }
}

export interface Redis {
  /** One command and its answer. Within two seconds it rejects: with a RedisError, or with what Redis answered. */
  command(...args: readonly (string | Buffer)[]): Promise<unknown>;
  /** The same with binary answers. */
  binary(...args: readonly string[]): Promise<unknown>;
  close(): void;
}

/** Connects in the background, and again after each failure; `onError` gets the failures. */
export async function connectRedis(
  url: string,
  onError: (error: Error) => void,
  onReady: () => void,
): Promise<Redis> {
  // Only several replicas need it. Imported whole: a bundle knows no names of a CommonJS package.
  const { default: redis } = await import('@redis/client');

  function open() {
    const opened = redis.createClient({
      url,
      RESP: 2,
      disableOfflineQueue: true,
      // Keeps a healthy connection from being silent.
      pingInterval: PING_MS,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        // A server that accepts and never answers is away too.
        socketTimeout: SILENT_MS,
        reconnectStrategy: (retries) => Math.min(LONGEST_WAIT_MS, 100 * 2 ** Math.min(retries, 5)),
      },
    });
    opened.on('error', (error: Error) => {
      // Error answers of a ready server reach the caller of the command.
      if (!(error instanceof redis.ErrorReply) || !opened.isReady) onError(error);
    });
    opened.on('ready', onReady);
    void opened.connect().catch(() => {});
    return opened;
  }
  let client = open();

  async function ask(args: readonly (string | Buffer)[], typeMapping = {}): Promise<unknown> {
    const asked = client;
    try {
      return await within(systemClock, TIMEOUT_MS, NEVER, () => asked.sendCommand(args, { typeMapping }));
    } catch (error) {
      if (!asked.isReady) throw new RedisError('redis_away', error);
      if (error instanceof NoAnswer) throw new RedisError('redis_silent');
      if (asked === client && error instanceof redis.ErrorReply && NOT_PRIMARY.test(error.message)) {
        client = open();
        asked.destroy();
      }
      throw error;
    }
  }

  return {
    command: (...args) => ask(args),
    binary: (...args) => ask(args, { [redis.RESP_TYPES.BLOB_STRING]: Buffer }),
    close: () => client.destroy(),
  };
}

/** By the word that Redis begins an error with. Scripts have it within a sentence. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/\bOOM\b/, 'Redis refuses writes: raise its maxmemory, or free some'],
  [/\bREADONLY\b/, 'Redis refuses writes: PILOTLIGHT_REDIS_URL names a copy; it must be the primary'],
  [/\bLOADING\b/, 'Redis is starting: it still reads its data'],
  [/\bMASTERDOWN\b/, 'PILOTLIGHT_REDIS_URL names a copy of a Redis that is down; it must be the primary'],
  [/\bMISCONF\b/, 'Redis refuses writes: it cannot save its snapshot; look at its disk and log'],
  [/\b(?:NOAUTH|WRONGPASS)\b/, 'Redis asks for a password: check the one in PILOTLIGHT_REDIS_URL'],
  [/\bNOPERM\b/, 'Redis lets this user not do it: check the rights of the user in PILOTLIGHT_REDIS_URL'],
];

/** One kind of trouble, such as that with the lease. */
export class RedisTrouble {
  readonly #logger: Logger;
  readonly #what: string;
  readonly #consequence: string;
  #failures = 0;
  #last: string | undefined;

  constructor(logger: Logger, what: string, consequence: string) {
    this.#logger = logger;
    this.#what = what;
    this.#consequence = consequence;
  }

  failed(error: unknown): void {
    // The connection is reported elsewhere, and a lease of another replica is fine.
    if (error instanceof RedisError && (error.code === 'redis_away' || error.code === 'lease_lost')) return;
    this.#failures += 1;
    const advice = wordsFor(error);
    const what = advice ?? this.#what;
    this.#last = advice ?? `${what}: ${reasonOf(error)}`;
    this.#logger[troubleLevel(this.#failures, 'warn')](
      { err: error, failures: this.#failures },
      `${what}: ${this.#consequence}`,
    );
  }

  passed(): void {
    if (this.#failures > 0) this.#logger.info({ failures: this.#failures }, 'Redis accepts commands again');
    this.#failures = 0;
    this.#last = undefined;
  }

  get last(): string | undefined {
    return this.#last;
  }
}

function wordsFor(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : '';
  const advice = ADVICE.find(([word]) => word.test(message))?.[1];
  return advice && `${advice} (it said: ${message})`;
}

/** If several addresses were tried in vain, the message is empty. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
