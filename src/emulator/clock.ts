/** The emulator's clock. All state is a function of it, so a test that moves the clock does not sleep. */
import { setImmediate as immediate } from 'node:timers/promises';

/** `real`: the time of the machine. `offset`: as far from it as it was moved. `frozen`: moves when it is moved. */
export type ClockMode = 'real' | 'offset' | 'frozen';

/** What a clock shows: a frozen one a time, a running one its distance from real time; both in ms. */
export type Reading = { readonly frozenAtMs: number } | { readonly offsetMs: number };

/** How the clock starts; times in ms since the Unix epoch. `frozen` stops at the real time of the start. */
export type ClockStart = 'real' | 'frozen' | Reading;

interface Due {
  readonly atMs: number;
  readonly task: () => void | Promise<void>;
}

/** Longest delay that setTimeout takes; beyond it the timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Of the emulator's time, and how much real time a step should take. */
const FIRST_STEP_MS = 60_000;
const LONG_STEP_MS = 50;

/** What a test does with it; only the emulator schedules, and keeps it in snapshots. */
export type Clock = Pick<
  ScheduledClock,
  'now' | 'mode' | 'offsetMs' | 'freeze' | 'resume' | 'offset' | 'advance'
>;

export class ScheduledClock implements Disposable {
  readonly #start: ClockStart;
  readonly #onMove: (beforeMs: number) => void;
  readonly #realNow: () => number;
  #reading: Reading;
  /** By time; of equal times the one that was scheduled first. */
  readonly #due: Due[] = [];
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  /** `onMove` is told before the clock jumps, so that what is due by then can be written down first. */
  constructor(
    start: ClockStart = 'real',
    onMove: (beforeMs: number) => void = () => {},
    realNow: () => number = Date.now,
  ) {
    this.#start = start;
    this.#onMove = onMove;
    this.#realNow = realNow;
    this.#reading = readingOf(start, realNow);
  }

  /** Unix time in ms as the emulator sees it. */
  now(): number {
    const reading = this.#reading;
    return 'frozenAtMs' in reading ? reading.frozenAtMs : this.#realNow() + reading.offsetMs;
  }

  get mode(): ClockMode {
    if ('frozenAtMs' in this.#reading) return 'frozen';
    return this.#reading.offsetMs === 0 ? 'real' : 'offset';
  }

  /** Distance from real time in ms. */
  get offsetMs(): number {
    const reading = this.#reading;
    return 'frozenAtMs' in reading ? reading.frozenAtMs - this.#realNow() : reading.offsetMs;
  }

  /** Stops the clock where it is, or at a Unix time in ms. */
  async freeze(atMs = this.now()): Promise<void> {
    this.#set({ frozenAtMs: this.now() });
    await this.#travel(atMs);
    this.#set({ frozenAtMs: atMs });
  }

  /** Lets a frozen clock run on from where it stands. */
  resume(): void {
    const reading = this.#reading;
    if ('frozenAtMs' in reading) this.#set({ offsetMs: reading.frozenAtMs - this.#realNow() });
  }

  /** Runs at real time plus `ms`; 0 is real time again. */
  async offset(ms: number): Promise<void> {
    await this.#travel(this.#realNow() + ms);
    this.#set({ offsetMs: ms });
  }

  /**
   * Moves the clock by `ms` (not negative). Everything that falls due on the way happens in its order and at
   * its time, before the promise resolves.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`advance by ${ms} ms: a clock advances by 0 or more`);
    await this.#travel(this.now() + ms);
  }

  /** Runs `task` when the clock reaches `atMs`; returns what cancels it. */
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

  /** Puts the clock back to how it started. */
  reset(): void {
    this.#set(readingOf(this.#start, this.#realNow));
  }

  /** For snapshots: the reading of a frozen clock, or the offset of a running one. */
  save(): Reading {
    return this.#reading;
  }

  restore(reading: Reading): void {
    this.#set(reading);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#due.length = 0;
    clearTimeout(this.#timer);
  }

  #set(next: Reading): void {
    this.#onMove(this.now());
    this.#reading = next;
    this.#arm();
  }

  /** Same mode, other time. */
  #moveTo(atMs: number): void {
    this.#set('frozenAtMs' in this.#reading ? { frozenAtMs: atMs } : { offsetMs: atMs - this.#realNow() });
  }

  /** One timer for the earliest task; none while frozen, since then only a move makes things due. */
  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [first] = this.#due;
    if (!first || this.#disposed || 'frozenAtMs' in this.#reading) return;
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

  /** A long way in steps: what a load brings on the way keeps nobody else, and no signal, waiting for longer than one. */
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

function readingOf(start: ClockStart, realNow: () => number): Reading {
  if (start === 'real') return { offsetMs: 0 };
  return start === 'frozen' ? { frozenAtMs: realNow() } : start;
}
