/**
 * A real log, written in bursts and rests, and shown by a service that does one or two things wrong. One seed gives one
 * log and one service.
 */
import type { TailAnswer } from '../../../src/logs/answer.ts';
import { LogService } from '../../support/log-service.ts';
import { readRealLog, REAL_LOGS, type RealLog } from '../../support/real-logs.ts';
import type { Random } from '../random.ts';

export const FAULTS = [
  'stale',
  'merged',
  'byte-limited',
  'slow-ended',
  'joined',
  'restarted',
  // Polls fail as those for too much do, whatever they ask for: nothing says for certain what was too much.
  'flaky',
  // `tail` counts bytes or characters.
  'bytes',
  // A file that is full is wiped.
  'wiped',
  // The process dies again and again, and its log begins again in the same words.
  'crash loop',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Unix milliseconds at which it begins. */
export const BEGINNING = 1_700_000_000_000;

/** A line that was being written when its log ended, and how many stood before it. */
export interface UnendedLine {
  readonly text: string;
  readonly at: number;
}

/** What a backend lags at most, ms. If answers or files are short, less than what they reach. */
const MOST_LAG_MS = 12_000;
const MOST_SHORT_LAG_MS = 1_500;
/** A line that comes late does so by at most this, ms. */
const MOST_LATE_MS = 8_000;
const CUT: TailAnswer = { kind: 'error', reason: 'the connection was reset', tooLarge: 'perhaps' };
/** Answers that fail in a row, at most. */
const MOST_CUT = 8;
/** A life that nothing was seen of cannot be told from the one before. */
const MOST_CUT_OF_LOOP = 2;
/** Milliseconds that a log lives at least. */
const SHORTEST_LIFE_MS = 70_000;
/** Lines per second, of which one is taken for some seconds. */
const RATES = [0, 0, 0.3, 3, 10, 20] as const;
const BOOT = Array.from({ length: 8 }, (_, step) => `INFO starting, step ${step} of 8`);

export class FaultyLog {
  readonly name: RealLog;
  readonly service: LogService;
  readonly unended: UnendedLine[] = [];
  readonly #faults: readonly Fault[];
  readonly #random: Random;
  readonly #source: readonly string[];
  /** Milliseconds that each life of a crash loop takes. */
  readonly #lifeMs: number;
  #next = 0;
  #isFaulty = true;
  /** What is still to come of the line that is being written. */
  #rest: string | undefined;
  #bornAt = BEGINNING;
  #rate: number = RATES[3];
  #rateUntil = BEGINNING + 10_000;
  #owed = 0;
  #toCut = 0;

  constructor(faults: readonly Fault[], random: Random) {
    this.#faults = faults;
    this.#random = random;
    this.name = random.pick<RealLog>(REAL_LOGS as readonly [RealLog, ...RealLog[]]);
    this.#source = readRealLog(this.name);
    // On a service that lags, a faster loop cannot be told from a lagging backend.
    this.#lifeMs = random.between(this.has('stale') ? 45_000 : 12_000, 100_000);
    const isShort = this.has('byte-limited') || this.has('wiped');
    const mostLag = isShort ? MOST_SHORT_LAG_MS : MOST_LAG_MS;
    this.service = new LogService({
      unit: this.has('bytes') ? random.pick(['bytes', 'characters']) : 'lines',
      endsLines: !this.has('joined'),
      cut: random.chance(0.3) && !this.has('bytes') ? 4 : 0,
      ...(this.has('byte-limited') && { byteLimit: random.between(12_000, 80_000) }),
      ...(this.has('wiped') && { fileBytes: Math.floor(random.between(16_000, 64_000)) }),
      ...(this.has('stale') && {
        stale: () => (this.#isFaulty && random.chance(0.3) ? random.between(0, mostLag) : 0),
      }),
      ...(this.has('merged') && {
        merged: () => (random.chance(0.05) ? random.between(0, MOST_LATE_MS) : 0),
      }),
    });
  }

  has(fault: Fault): boolean {
    return this.#faults.includes(fault);
  }

  /** What comes until a time, Unix milliseconds. */
  writeUntil(until: number): void {
    const { service } = this;
    while (service.now < until) {
      const stepMs = Math.min(500, until - service.now);
      service.now += stepMs;
      this.#mayRestart();
      this.#write(stepMs);
    }
  }

  /** From here on it is honest, and nothing more is written. */
  end(): void {
    this.#isFaulty = false;
    if (this.#rest !== undefined) this.service.write(`${this.#rest}\n`);
    this.#rest = undefined;
  }

  answer(tail: number): TailAnswer {
    if (!this.has('flaky')) return this.service.answer(tail);
    if (this.#toCut === 0 && this.#isFaulty && this.#random.chance(0.1))
      this.#toCut = Math.floor(
        this.#random.between(1, (this.has('crash loop') ? MOST_CUT_OF_LOOP : MOST_CUT) + 1),
      );
    const answer = this.service.answer(tail);
    if (this.#toCut === 0 && answer.kind !== 'error') return answer;
    this.#toCut = Math.max(0, this.#toCut - 1);
    this.service.shown = [];
    return CUT;
  }

  #write(stepMs: number): void {
    const random = this.#random;
    if (!this.#isFaulty) return;
    if (this.#rest !== undefined) {
      const part = Math.ceil(this.#rest.length * random.next());
      this.service.write(this.#rest.slice(0, part));
      this.#rest = this.#rest.slice(part);
      if (this.#rest !== '' || random.chance(0.5)) return;
      this.service.write('\n');
      this.#rest = undefined;
    }
    if (this.service.now >= this.#rateUntil) {
      // A process that repeats its words writes them at the same pace.
      this.#rate = this.has('crash loop') ? 1 : random.pick(RATES);
      this.#rateUntil = this.service.now + random.between(2_000, 20_000);
    }
    this.#owed += (this.#rate * stepMs) / 1_000;
    for (; this.#owed >= 1; this.#owed--) this.service.writeLines([this.#nextLine()]);
    if (this.has('slow-ended') && random.chance(0.1)) {
      const line = this.#nextLine();
      this.service.write(line.slice(0, 5));
      this.#rest = line.slice(5);
    }
  }

  #mayRestart(): void {
    const lived = this.service.now - this.#bornAt;
    if (!this.#isFaulty) return;
    if (this.has('crash loop') && lived > this.#lifeMs) {
      this.#restart();
      this.#next = 0;
      return;
    }
    if (!this.has('restarted') || lived <= SHORTEST_LIFE_MS || !this.#random.chance(0.02)) return;
    this.#restart();
    if (this.#random.chance(0.5)) this.service.writeLines(BOOT);
    this.service.writeLines(Array.from({ length: 3 }, () => this.#nextLine()));
  }

  #restart(): void {
    const { service } = this;
    const partial = service.reset();
    if (partial !== '') this.unended.push({ text: partial, at: service.written.length });
    this.#rest = undefined;
    this.#bornAt = service.now;
  }

  #nextLine(): string {
    return this.#source[this.#next++] || `line ${this.service.written.length} of the rest`;
  }
}
