/** A worker group's log as the service keeps and gives it: the end of a text, in lines. And what it may do wrong. */
import type { TailAnswer } from '../../src/logs/answer.ts';

/** Times in ms. Each may be switched on beside any other. */
export interface LogServiceOptions {
  /** What `tail` counts. Default: lines. */
  readonly unit?: 'lines' | 'bytes' | 'characters';
  /** A file of more bytes is wiped: the line that does not fit begins a new one. */
  readonly fileBytes?: number;
  /** The most bytes it gives, however much is asked for. */
  readonly givesBytes?: number;
  /** The text ends with a line's end; otherwise the last one is left out, as by a join of lines. */
  readonly endsLines?: boolean;
  /** Characters missing from the first line of a full tail. */
  readonly cut?: number;
  /** The most lines it gives, however many are asked for. */
  readonly gives?: number;
  /** An answer of more characters does not come through. */
  readonly byteLimit?: number;
  /** The answer at this moment does not come. */
  readonly fails?: (now: number) => boolean;
  /** How old the view is that the next answer gives: it comes from a backend that lags. */
  readonly stale?: () => number;
  /** How long after its turn the next line is seen: it comes from a worker that is late, and goes where it belongs. */
  readonly merged?: () => number;
}

/** A line, or what of it has been written yet. */
export interface WrittenLine {
  readonly text: string;
  /** Of the log that it stands in, which begins anew now and then. */
  readonly epoch: number;
  readonly seenAt: number;
}

/** A moment at which the unended last line had this text. */
interface Partial {
  readonly at: number;
  readonly text: string;
}

export class LogService {
  /** Moved by whoever has a clock; without one, everything is of the same moment. */
  now = 0;
  readonly written: WrittenLine[] = [];
  readonly #options: LogServiceOptions;
  #lines: string[] = [];
  #partial = '';
  #bytes = 0;
  readonly #partials: Partial[] = [{ at: -Infinity, text: '' }];
  /** The first line of each epoch, and when it began. */
  readonly #epochs: { readonly from: number; readonly at: number }[] = [{ from: 0, at: -Infinity }];
  shown: readonly WrittenLine[] = [];

  constructor(options: LogServiceOptions = {}) {
    this.#options = options;
  }

  /** Lines that have ended, of this epoch: a copy, which many ask for at each poll. */
  get lines(): readonly string[] {
    return this.#lines.slice();
  }

  get epoch(): number {
    return this.#epochs.length;
  }

  write(text: string): void {
    const pieces = (this.#partial + text).split('\n');
    this.#partial = pieces.pop() ?? '';
    this.#partials.push({ at: this.now, text: this.#partial });
    for (const piece of pieces) {
      const size = Buffer.byteLength(piece) + 1;
      if (this.#bytes + size > (this.#options.fileBytes ?? Infinity)) this.#begin();
      this.#bytes += size;
      const seenAt = this.now + (this.#options.merged?.() ?? 0);
      this.written.push({ text: piece, epoch: this.epoch, seenAt });
      this.#lines.push(piece);
    }
  }

  writeLines(lines: readonly string[]): void {
    for (const line of lines) this.write(`${line}\n`);
  }

  /** The worker group starts anew: its log is gone. @returns The line that was being written. */
  reset(): string {
    const partial = this.#partial;
    this.#begin();
    this.#partial = '';
    this.#partials.push({ at: this.now, text: '' });
    return partial;
  }

  #begin(): void {
    this.#epochs.push({ from: this.written.length, at: this.now });
    this.#lines = [];
    this.#bytes = 0;
  }

  tail(count: number): string {
    const { unit = 'lines', givesBytes = Infinity, gives = Infinity } = this.#options;
    if (unit === 'lines' && givesBytes === Infinity) return this.#tailOfLines(count);
    const most = unit === 'lines' ? givesBytes : Math.min(count, givesBytes);
    // A line has at least its end, so this has all that is asked for.
    const text = this.#tailOfLines(unit === 'lines' ? count : Math.min(count, gives) + 1, 2 * most);
    const last = unit === 'characters' ? lastCharacters(text, most) : lastBytes(text, most);
    // Lines that are there as a whole, behind the first line's end.
    const isCut = last.length < text.length;
    if (isCut) this.shown = this.shown.slice(this.shown.length - (last.split('\n').length - 2));
    return last;
  }

  /** @param enough No more lines are looked for than have so many UTF-16 units. */
  #tailOfLines(count: number, enough = Infinity): string {
    const { endsLines = true, cut = 0, gives = Infinity, stale } = this.#options;
    const at = this.now - (stale?.() ?? 0);
    const partial = this.#partials.findLast((one) => one.at <= at)?.text ?? '';
    const given = Math.min(count, gives) - (partial === '' ? 0 : 1);
    const shown = this.#view(at, given, enough);
    const full = shown.length >= given;
    this.shown = full ? shown.slice(1) : shown;
    const last = shown.map(({ text }) => text);
    if (full && last[0] !== undefined) last[0] = last[0].slice(cut);
    if (partial !== '') last.push(partial);
    // A service that joins its lines has no line that is being written: the last one is whole as far as it knows.
    return last.join('\n') + (endsLines && partial === '' && last.length > 0 ? '\n' : '');
  }

  answer(count: number): TailAnswer {
    if (this.#options.fails?.(this.now)) return { kind: 'error', reason: 'no answer' };
    const text = this.tail(count);
    if (text.length > (this.#options.byteLimit ?? Infinity)) {
      this.shown = [];
      return { kind: 'error', reason: 'the answer is too large', tooLarge: 'surely' };
    }
    return { kind: 'text', text };
  }

  #view(at: number, count: number, enough: number): readonly WrittenLine[] {
    const epoch = this.#epochs.findLastIndex((one) => one.at <= at);
    const from = this.#epochs[epoch]?.from ?? 0;
    const found: WrittenLine[] = [];
    let units = 0;
    for (let index = (this.#epochs[epoch + 1]?.from ?? this.written.length) - 1; index >= from; index--) {
      const line = this.written[index];
      if (found.length >= count || units > enough || line === undefined) break;
      if (line.seenAt > at) continue;
      found.push(line);
      units += line.text.length + 1;
    }
    return found.reverse();
  }
}

/** Decoded as a service does: what is cut of a character becomes a replacement character. */
function lastBytes(text: string, most: number): string {
  if (most === Infinity) return text;
  const bytes = Buffer.from(text);
  return bytes.length <= most ? text : bytes.subarray(-most).toString();
}

function lastCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  let from = text.length;
  for (let left = most; left > 0 && from > 0; left--)
    from -= (text.codePointAt(from - 2) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(from);
}
