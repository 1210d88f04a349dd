/**
 * A real log, written in bursts and rests, and shown by a service that does one or two things wrong. One seed gives one
 * log and one service.
 */
import type { TailAnswer } from '../../../src/logs/tail/answer.ts';
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
  // Polls fail as those for too much do, whatever they are for; then nothing says for certain what was too much.
  'flaky',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Unix milliseconds at which it begins. */
export const BEGINNING = 1_700_000_000_000;

/** A line that was being written when its log ended, and how many stood before it. */
export interface UnendedLine {
  readonly text: string;
  readonly at: number;
}

/**
 * What a backend lags at most, ms: less than what makes a log a truncated one, and where answers are
 * short, less than what they reach.
 */
const MOST_LAG = 12_000;
const MOST_SHORT_LAG = 1_500;
const CUT: TailAnswer = { kind: 'error', reason: 'the connection was reset', tooLarge: 'perhaps' };
/** Answers that fail in a row, at most. */
const MOST_CUT = 8;
/** Milliseconds that a log lives at least. */
const SHORTEST_LIFE = 70_000;
const BOOT = Array.from({ length: 8 }, (_, step) => `INFO starting, step ${step} of 8`);

export class FaultyLog {
  readonly name: RealLog;
  readonly service: LogService;
  readonly unended: UnendedLine[] = [];
  readonly #faults: readonly Fault[];
  readonly #random: Random;
  readonly #lines: Iterator<string>;
  #isFaulty = true;
  /** What is still to come of the line that is being written. */
  #rest: string | undefined;
  #restartedAt = BEGINNING;
  #toCut = 0;

  constructor(faults: readonly Fault[], random: Random) {
    this.#faults = faults;
    this.#random = random;
    this.name = random.pick<RealLog>(REAL_LOGS as readonly [RealLog, ...RealLog[]]);
    this.#lines = readRealLog(this.name).values();
    const mostLag = this.has('byte-limited') ? MOST_SHORT_LAG : MOST_LAG;
    this.service = new LogService({
      endsLines: !this.has('joined'),
      cut: random.chance(0.3) ? 4 : 0,
      ...(this.has('byte-limited') && { byteLimit: random.between(12_000, 80_000) }),
      ...(this.has('stale') && {
        stale: () => (this.#isFaulty && random.chance(0.3) ? random.between(0, mostLag) : 0),
      }),
      ...(this.has('merged') && { merged: () => (random.chance(0.05) ? random.between(0, 8_000) : 0) }),
    });
  }

  has(fault: Fault): boolean {
    return this.#faults.includes(fault);
  }

  /** What comes between two polls. */
  write(): void {
    const random = this.#random;
    if (this.#rest !== undefined) {
      const part = Math.ceil(this.#rest.length * random.next());
      this.service.write(this.#rest.slice(0, part));
      this.#rest = this.#rest.slice(part);
      if (this.#rest !== '' || random.chance(0.5)) return;
      this.service.write('\n');
      this.#rest = undefined;
    }
    const count = random.chance(0.3) ? 0 : Math.floor(random.between(1, 40));
    for (let index = 0; index < count; index++) this.service.writeLines([this.#nextLine()]);
    if (this.has('slow-ended') && random.chance(0.3)) {
      const line = this.#nextLine();
      this.service.write(line.slice(0, 5));
      this.#rest = line.slice(5);
    }
  }

  /** The worker group may begin anew. */
  mayRestart(): void {
    const { service } = this;
    if (!this.has('restarted') || service.now - this.#restartedAt <= SHORTEST_LIFE) return;
    if (!this.#random.chance(0.08)) return;
    const partial = service.reset();
    if (partial !== '') this.unended.push({ text: partial, at: service.written.length });
    this.#rest = undefined;
    this.#restartedAt = service.now;
    if (this.#random.chance(0.5)) service.writeLines(BOOT);
    service.writeLines(Array.from({ length: 3 }, () => this.#nextLine()));
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
      this.#toCut = Math.floor(this.#random.between(1, MOST_CUT + 1));
    const answer = this.service.answer(tail);
    if (this.#toCut === 0 && answer.kind !== 'error') return answer;
    this.#toCut = Math.max(0, this.#toCut - 1);
    this.service.shown = [];
    return CUT;
  }

  #nextLine(): string {
    const { value } = this.#lines.next();
    return typeof value === 'string' && value !== ''
      ? value
      : `line ${this.service.written.length} of the rest`;
  }
}
