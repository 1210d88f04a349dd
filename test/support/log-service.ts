/** A worker group's log as the service keeps and gives it: the end of a text, in lines. */
import type { TailAnswer } from '../../src/logs/tail/answer.ts';

export interface LogServiceOptions {
  /** The text ends with a line's end; otherwise the last one is left out, as by a join of lines. */
  readonly endsLines?: boolean;
  /** Characters missing from the first line of a full tail. */
  readonly cut?: number;
  /** The most lines it gives, however many are asked for. */
  readonly gives?: number;
}

export class LogService {
  readonly #options: LogServiceOptions;
  #lines: string[] = [];
  #partial = '';

  constructor(options: LogServiceOptions = {}) {
    this.#options = options;
  }

  /** Lines that have ended. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  write(text: string): void {
    const pieces = (this.#partial + text).split('\n');
    this.#partial = pieces.pop() ?? '';
    this.#lines.push(...pieces);
  }

  writeLines(lines: readonly string[]): void {
    for (const line of lines) this.write(`${line}\n`);
  }

  /** The worker group starts anew: its log is gone. */
  reset(): void {
    this.#lines = [];
    this.#partial = '';
  }

  tail(count: number): string {
    const { endsLines = true, cut = 0, gives = Infinity } = this.#options;
    const units = this.#partial === '' ? this.#lines : [...this.#lines, this.#partial];
    const given = Math.min(count, gives);
    const last = units.slice(-given);
    if (units.length >= given && last[0] !== undefined) last[0] = last[0].slice(cut);
    return last.join('\n') + (endsLines && this.#partial === '' && last.length > 0 ? '\n' : '');
  }

  answer(count: number): TailAnswer {
    return { kind: 'text', text: this.tail(count) };
  }
}
