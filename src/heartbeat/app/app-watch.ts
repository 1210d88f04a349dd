/** Asks the app beside this process, again and again. What follows from its answers is the engine's. */
import {
  ANSWER_WITHIN,
  askEvery,
  observeApp,
  startAppHealth,
  type AppEvent,
  type AppHealth,
} from '../engine/app-health.ts';
import type { CancelTimer, Ports } from '../driver/ports.ts';
import type { AppAnswer } from './ask-app.ts';

export interface AppWatchOptions {
  /** ms */
  readonly grace: number;
  readonly ports: Pick<Ports, 'clock' | 'setTimer'>;
  /** Must end when the signal fires, with all that it has open. What it throws is no good answer either. */
  readonly ask: (signal: AbortSignal) => Promise<AppAnswer>;
  /** Hears of each answer, and of each other grace that changes something. */
  readonly onHealth: (health: AppHealth, before: AppHealth) => void;
}

const LATE: AppAnswer = { well: false, why: `no answer within ${ANSWER_WITHIN / 1000} s` };
const FAILED: AppAnswer = { well: false, why: 'it could not be asked' };

export class AppWatch {
  readonly #options: AppWatchOptions;
  /** The questions that are not answered yet, by what ends them. */
  readonly #open = new Set<AbortController>();
  health: AppHealth;
  /** Why the last answer was not a good one; undefined where it was, or before the first. */
  why: string | undefined;
  /** Whether the app has answered at all, or failed to. */
  hasAnswered = false;
  #askedAt = -Infinity;
  #cancel: CancelTimer | undefined;

  constructor(options: AppWatchOptions) {
    this.#options = options;
    this.health = startAppHealth(options.grace, options.ports.clock.mono());
    // In a turn of its own: the first heartbeats leave before.
    this.#cancel = options.ports.setTimer(0, () => this.#ask());
  }

  /** Applies at once, to what is known by now. */
  setGrace(grace: number): void {
    if (grace !== this.health.grace) this.#observe({ type: 'grace', grace });
  }

  /** Ends every question and timer; nothing is told any more. */
  stop(): void {
    this.#cancel?.();
    for (const question of this.#open) this.#drop(question);
  }

  /** While heartbeats are withheld the next question does not wait for this one: a second counts more than a request. */
  #ask(): void {
    const { ports, ask } = this.#options;
    const question = new AbortController();
    this.#open.add(question);
    this.#askedAt = ports.clock.mono();
    const cancel = ports.setTimer(ANSWER_WITHIN, () => this.#settle(question, LATE));
    question.signal.addEventListener('abort', cancel, { once: true });
    const settle = (answer: AppAnswer): void => this.#settle(question, answer);
    void (async () => ask(question.signal))().then(settle, () => settle(FAILED));
    this.#arm();
  }

  #arm(): void {
    const { clock, setTimer } = this.#options.ports;
    this.#cancel?.();
    const waitMs = this.#askedAt + askEvery(this.health) - clock.mono();
    this.#cancel = setTimer(Math.max(0, waitMs), () => this.#ask());
  }

  #settle(question: AbortController, answer: AppAnswer): void {
    if (!this.#open.has(question)) return;
    this.#drop(question);
    // What was asked before is not worth waiting for: its answer could only be older news, or worse.
    if (answer.well) for (const other of this.#open) this.#drop(other);
    this.hasAnswered = true;
    this.why = answer.well ? undefined : answer.why;
    this.#observe({ type: 'answered', well: answer.well });
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
