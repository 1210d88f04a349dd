/** Says what is wrong with Redis, and what to do. */
import type { Logger } from 'pino';
import { troubleLevel } from '../../time/backoff.ts';
import { RedisError } from './redis.ts';

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
