/** Asks the app beside this process again and again, and decides whether it needs the deployments. */
import type { CancelTimer, Ports } from '../driver/ports.ts';
import type { AppAnswer } from './ask-app.ts';

/** Pure. The grace counts time in which the app could be asked: no sleep, no pause, no step of a clock. */

/** A second may save a deployment whose heartbeats are withheld. */
export const ASK_EVERY = 5_000;
export const ASK_WITHHELD_EVERY = 1_000;
export const ANSWER_WITHIN = 2_000;

/** From one answer to the next if nothing held up this process, and a timer was a second late, ms. */
const LONGEST_LOOK = ASK_EVERY + ANSWER_WITHIN + 1_000;
const LEAST_MISSES = 2;

export interface AppHealth {
  readonly grace: number;
  readonly unhealthyMs: number;
  readonly misses: number;
  /** When the last answer came, or when it all began: monotonic ms. */
  readonly heardAt: number;
  readonly withheld: boolean;
}

export type AppEvent =
  | { readonly type: 'answered'; readonly healthy: boolean }
  | { readonly type: 'grace'; readonly grace: number };

/** The grace of an app that never was healthy counts from the start. */
export function startAppHealth(grace: number, mono: number): AppHealth {
  return { grace, unhealthyMs: 0, misses: 0, heardAt: mono, withheld: false };
}

export function observeApp(health: AppHealth, event: AppEvent, mono: number): AppHealth {
  if (event.type === 'grace') return decide({ ...health, grace: event.grace });
  if (event.healthy) return { ...health, unhealthyMs: 0, misses: 0, heardAt: mono, withheld: false };
  const lookMs = Math.max(0, Math.min(mono - health.heardAt, LONGEST_LOOK));
  const { unhealthyMs, misses } = health;
  return decide({ ...health, unhealthyMs: unhealthyMs + lookMs, misses: misses + 1, heardAt: mono });
}

function decide(health: AppHealth): AppHealth {
  return { ...health, withheld: health.misses >= LEAST_MISSES && health.unhealthyMs >= health.grace };
}

export function askEvery({ withheld }: AppHealth): number {
  return withheld ? ASK_WITHHELD_EVERY : ASK_EVERY;
}

export interface AppWatchOptions {
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
  hasAnswered = false;
  #askedAt = -Infinity;
  #cancel: CancelTimer | undefined;

  constructor(options: AppWatchOptions) {
    this.#options = options;
    this.health = startAppHealth(options.grace, options.ports.clock.mono());
    // In a turn of its own: the first heartbeats leave before.
    this.#cancel = options.ports.setTimer(0, () => this.#ask());
  }

  setGrace(grace: number): void {
    if (grace !== this.health.grace) this.#observe({ type: 'grace', grace });
  }

  stop(): void {
    this.#cancel?.();
    for (const question of this.#open) this.#drop(question);
  }

  /** If heartbeats are withheld, the next question does not wait for this one. */
  #ask(): void {
    const { ports, ask } = this.#options;
    const question = new AbortController();
    this.#open.add(question);
    this.#askedAt = ports.clock.mono();
    const cancel = ports.setTimer(ANSWER_WITHIN, () => this.#hear(question, LATE));
    question.signal.addEventListener('abort', cancel, { once: true });
    const hear = (answer: AppAnswer): void => this.#hear(question, answer);
    void (async () => ask(question.signal))().then(hear, () => hear(FAILED));
    this.#arm();
  }

  #arm(): void {
    const { clock, setTimer } = this.#options.ports;
    this.#cancel?.();
    const waitMs = this.#askedAt + askEvery(this.health) - clock.mono();
    this.#cancel = setTimer(Math.max(0, waitMs), () => this.#ask());
  }

  #hear(question: AbortController, answer: AppAnswer): void {
    if (!this.#open.has(question)) return;
    this.#drop(question);
    // Older questions could only bring older news.
    if (answer.healthy) for (const other of this.#open) this.#drop(other);
    this.hasAnswered = true;
    this.why = answer.healthy ? undefined : answer.why;
    this.#observe({ type: 'answered', healthy: answer.healthy });
  }

  #observe(event: AppEvent): void {
    const before = this.health;
    this.health = observeApp(before, event, this.#options.ports.clock.mono());
    if (this.health.withheld !== before.withheld) this.#arm();
    this.#options.onHealth(this.health, before);
  }

  #drop(question: AbortController): void {
    this.#open.delete(question);
    question.abort();
  }
}
