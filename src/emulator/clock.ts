/** All state is a function of this clock, so tests that move it need not sleep. */
import { setImmediate as immediate } from 'node:timers/promises';

/** `real`: machine time. `offset`: a fixed distance from it. `frozen`: moves only when told. */
export type ClockMode = 'real' | 'offset' | 'frozen';

/** Time of a frozen clock, or a running clock's distance from real time; in ms. */
export type ClockState = { readonly frozenAtMs: number } | { readonly offsetMs: number };

/** Start of the clock, in Unix ms. `frozen` stops at the real time of the start. */
export type ClockStart = 'real' | 'frozen' | ClockState;

interface Due {
  readonly atMs: number;
  readonly task: () => void | Promise<void>;
}

/** setTimeout fires at once beyond this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Emulator time of the first step, and real time that a step should take. */
const FIRST_STEP_MS = 60_000;
const LONG_STEP_MS = 50;

/** Only the emulator itself schedules and saves. */
export type Clock = Pick<
  ScheduledClock,
  'now' | 'mode' | 'offsetMs' | 'freeze' | 'resume' | 'offset' | 'advance'
>;

export class ScheduledClock implements Disposable {
  readonly #start: ClockStart;
  readonly #onMove: (beforeMs: number) => void;
  readonly #realNow: () => number;
  #state: ClockState;
  readonly #due: Due[] = [];
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  /** `onMove` runs before each jump, so that what is due happens first. */
  constructor(
    start: ClockStart = 'real',
    onMove: (beforeMs: number) => void = () => {},
    realNow: () => number = Date.now,
  ) {
    this.#start = start;
    this.#onMove = onMove;
    this.#realNow = realNow;
    this.#state = stateOf(start, realNow);
  }

  /** Unix time in ms as the emulator sees it. */
  now(): number {
    const state = this.#state;
    return 'frozenAtMs' in state ? state.frozenAtMs : this.#realNow() + state.offsetMs;
  }

  get mode(): ClockMode {
    if ('frozenAtMs' in this.#state) return 'frozen';
    return this.#state.offsetMs === 0 ? 'real' : 'offset';
  }

  /** Distance from real time in ms. */
  get offsetMs(): number {
    const state = this.#state;
    return 'frozenAtMs' in state ? state.frozenAtMs - this.#realNow() : state.offsetMs;
  }

  /** Stops the clock now, or at a Unix time in ms. */
  async freeze(atMs = this.now()): Promise<void> {
    this.#set({ frozenAtMs: this.now() });
    await this.#travel(atMs);
    this.#set({ frozenAtMs: atMs });
  }

  resume(): void {
    const state = this.#state;
    if ('frozenAtMs' in state) this.#set({ offsetMs: state.frozenAtMs - this.#realNow() });
  }

  /** Runs at real time plus `ms`; 0 is real time. */
  async offset(ms: number): Promise<void> {
    await this.#travel(this.#realNow() + ms);
    this.#set({ offsetMs: ms });
  }

  /** Moves the clock by `ms` (0 or more). Everything due on the way happens, in order, before it resolves. */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`advance by ${ms} ms: a clock advances by 0 or more`);
    await this.#travel(this.now() + ms);
  }

  schedule(atMs: number, task: Due['task']): () => void {
    const entry = { atMs, task };
    const index = this.#due.findIndex((other) => other.atMs > atMs);
    this.#due.splice(index === -1 ? this.#due.length : index, 0, entry);
    this.#arm();
    return () => {
      const at = this.#due.indexOf(entry);
      if (at !== -1) this.#due.splice(at, 1);
      this.#arm();
    };
  }

  reset(): void {
    this.#set(stateOf(this.#start, this.#realNow));
  }

  save(): ClockState {
    return this.#state;
  }

  restore(state: ClockState): void {
    this.#set(state);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#due.length = 0;
    clearTimeout(this.#timer);
  }

  #set(next: ClockState): void {
    this.#onMove(this.now());
    this.#state = next;
    this.#arm();
  }

  #moveTo(atMs: number): void {
    this.#set('frozenAtMs' in this.#state ? { frozenAtMs: atMs } : { offsetMs: atMs - this.#realNow() });
  }

  /** A frozen clock needs no timer: only a move makes tasks due. */
  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [first] = this.#due;
    if (!first || this.#disposed || 'frozenAtMs' in this.#state) return;
    const delay = Math.min(Math.max(0, first.atMs - this.now()), MAX_TIMER_MS);
    this.#timer = setTimeout(() => void this.#runDue(this.now()).finally(() => this.#arm()), delay);
  }

  async #runDue(untilMs: number): Promise<void> {
    for (let [first] = this.#due; first && first.atMs <= untilMs; [first] = this.#due) {
      this.#due.shift();
      await first.task();
    }
  }

  async #travel(targetMs: number): Promise<void> {
    for (let [first] = this.#due; first && first.atMs <= targetMs; [first] = this.#due) {
      await this.#pass(first.atMs);
      await this.#runDue(first.atMs);
    }
    await this.#pass(targetMs);
  }

  /** Long ways go in steps, so that other requests and signals get their turn. */
  async #pass(targetMs: number): Promise<void> {
    for (let stepMs = FIRST_STEP_MS; targetMs - this.now() > stepMs;) {
      const begun = this.#realNow();
      this.#moveTo(this.now() + stepMs);
      stepMs = this.#realNow() - begun > LONG_STEP_MS ? Math.max(stepMs / 2, 1) : stepMs * 2;
      await immediate();
    }
    if (targetMs > this.now()) this.#moveTo(targetMs);
  }
}

function stateOf(start: ClockStart, realNow: () => number): ClockState {
  if (start === 'real') return { offsetMs: 0 };
  return start === 'frozen' ? { frozenAtMs: realNow() } : start;
}
