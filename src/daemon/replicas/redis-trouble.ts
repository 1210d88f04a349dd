/** What goes wrong with Redis, in words for whoever can mend it. */
import type { Logger } from 'pino';
import { troubleLevel } from '../../time/backoff.ts';
import { RedisAway } from './redis.ts';
import { LeaseLost } from './shared-progress.ts';

/** By the word that Redis begins an error with. A script has it within the sentence. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/\bOOM\b/, 'Redis refuses writes: raise its maxmemory, or free some'],
  [/\bREADONLY\b/, 'Redis refuses writes: PILOTLIGHT_REDIS_URL names a copy; it must be the primary'],
  [/\bLOADING\b/, 'Redis is starting: it still reads its data'],
  [/\bMASTERDOWN\b/, 'PILOTLIGHT_REDIS_URL names a copy of a Redis that is down; it must be the primary'],
  [/\bMISCONF\b/, 'Redis refuses writes: it cannot save its snapshot; look at its disk and log'],
  [/\b(?:NOAUTH|WRONGPASS)\b/, 'Redis asks for a password: check the one in PILOTLIGHT_REDIS_URL'],
  [/\bNOPERM\b/, 'Redis lets this user not do it: check the rights of the user in PILOTLIGHT_REDIS_URL'],
];

/** Trouble of one kind, such as that with the lease. Told when it begins, and after twice as many failures each time. */
export class RedisTrouble {
  readonly #logger: Logger;
  readonly #what: string;
  readonly #consequence: string;
  #failures = 0;
  #last: string | undefined;

  /** @param what What went wrong, where Redis does not say why. */
  constructor(logger: Logger, what: string, consequence: string) {
    this.#logger = logger;
    this.#what = what;
    this.#consequence = consequence;
  }

  failed(error: unknown): void {
    // Told of where it is known, or no trouble.
    if (error instanceof RedisAway || error instanceof LeaseLost) return;
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
    if (this.#failures > 0) this.#logger.info({ failures: this.#failures }, 'Redis does again as it is told');
    this.#failures = 0;
    this.#last = undefined;
  }

  /** What is wrong just now. */
  get last(): string | undefined {
    return this.#last;
  }
}

function wordsFor(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : '';
  const advice = ADVICE.find(([word]) => word.test(message))?.[1];
  return advice && `${advice} (it said: ${message})`;
}

/** Of several addresses that were tried in vain, the message is empty. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
