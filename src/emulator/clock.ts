/**
 * The emulator's clock: real, frozen, or the real one moved by an offset. All state is a function of it, so
 * whoever moves the clock needs no sleep. What has to happen by itself at some time is scheduled here.
 */

export type ClockMode = 'real' | 'offset' | 'frozen';

/** How the clock starts; times in ms since the Unix epoch. `frozen` stops at the real time of the start. */
export type ClockStart = 'real' | 'frozen' | { readonly frozenAtMs: number } | { readonly offsetMs: number };

export interface Clock {
  /** Unix time in ms as the emulator sees it. */
  now(): number;
  readonly mode: ClockMode;
  /** Distance from real time in ms. */
  readonly offsetMs: number;
  /** Stops the clock where it is, or at a Unix time in ms. */
  freeze(atMs?: number): Promise<void>;
  /** Lets a frozen clock run on from where it stands. */
  resume(): void;
  /** Runs at real time plus `ms`; 0 is real time again. */
  offset(ms: number): Promise<void>;
  /**
   * Moves the clock by `ms` (not negative). Everything that falls due on the way happens in its order and at
   * its time, before the promise resolves.
   */
  advance(ms: number): Promise<void>;
}

export interface ScheduledClock extends Clock, Disposable {
  /** Runs `task` when the clock reaches `atMs`; returns what cancels it. */
  schedule(atMs: number, task: () => void | Promise<void>): () => void;
  /** Puts the clock back to how it started. */
  reset(): void;
  /** For snapshots: the reading of a frozen clock, or the offset of a running one. */
  save(): Reading;
  restore(reading: Reading): void;
}

/** What a clock shows: a frozen one a time, a running one its distance from real time; both in ms. */
export type Reading = { readonly frozenAtMs: number } | { readonly offsetMs: number };

interface Due {
  readonly atMs: number;
  readonly task: () => void | Promise<void>;
}

/** Longest delay that setTimeout takes; beyond it the timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `onMove` is told before the clock jumps, so that what is due by then can be written down first. */
export function createClock(
  start: ClockStart = 'real',
  onMove: (beforeMs: number) => void = () => {},
  realNow: () => number = Date.now,
): ScheduledClock {
  let reading: Reading = readingOf(start, realNow);
  const due: Due[] = [];
  let timer: NodeJS.Timeout | undefined;
  let disposed = false;

  function now(): number {
    return 'frozenAtMs' in reading ? reading.frozenAtMs : realNow() + reading.offsetMs;
  }

  function set(next: Reading): void {
    onMove(now());
    reading = next;
    arm();
  }

  /** Same mode, other time. */
  function moveTo(atMs: number): void {
    set('frozenAtMs' in reading ? { frozenAtMs: atMs } : { offsetMs: atMs - realNow() });
  }

  /** One timer for the earliest task; none while frozen, since then only a move makes things due. */
  function arm(): void {
    clearTimeout(timer);
    timer = undefined;
    const [first] = due;
    if (!first || disposed || 'frozenAtMs' in reading) return;
    const delay = Math.min(Math.max(0, first.atMs - now()), MAX_TIMER_MS);
    timer = setTimeout(() => void runDue(now()).finally(arm), delay);
  }

  async function runDue(untilMs: number, beforeEach: (atMs: number) => void = () => {}): Promise<void> {
    for (let [first] = due; first && first.atMs <= untilMs; [first] = due) {
      due.shift();
      beforeEach(first.atMs);
      await first.task();
    }
  }

  async function travel(targetMs: number): Promise<void> {
    if (due[0] && due[0].atMs <= targetMs) {
      await runDue(targetMs, (atMs) => {
        if (atMs > now()) moveTo(atMs);
      });
    }
    if (targetMs > now()) moveTo(targetMs);
  }

  return {
    now,
    get mode() {
      if ('frozenAtMs' in reading) return 'frozen';
      return reading.offsetMs === 0 ? 'real' : 'offset';
    },
    get offsetMs() {
      return 'frozenAtMs' in reading ? reading.frozenAtMs - realNow() : reading.offsetMs;
    },
    async freeze(atMs = now()) {
      set({ frozenAtMs: now() });
      await travel(atMs);
      set({ frozenAtMs: atMs });
    },
    resume() {
      if ('frozenAtMs' in reading) set({ offsetMs: reading.frozenAtMs - realNow() });
    },
    async offset(ms) {
      await travel(realNow() + ms);
      set({ offsetMs: ms });
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`advance by ${ms} ms: a clock advances by 0 or more`);
      await travel(now() + ms);
    },
    schedule(atMs, task) {
      const entry = { atMs, task };
      const index = due.findIndex((other) => other.atMs > atMs);
      due.splice(index === -1 ? due.length : index, 0, entry);
      arm();
      return () => {
        const at = due.indexOf(entry);
        if (at !== -1) due.splice(at, 1);
        arm();
      };
    },
    reset() {
      set(readingOf(start, realNow));
    },
    save: () => reading,
    restore: set,
    [Symbol.dispose]() {
      disposed = true;
      due.length = 0;
      clearTimeout(timer);
    },
  };
}

function readingOf(start: ClockStart, realNow: () => number): Reading {
  if (start === 'real') return { offsetMs: 0 };
  return start === 'frozen' ? { frozenAtMs: realNow() } : start;
}
