/** Text of a colour, on a terminal that shows colours. */

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'quiet';

/** A text of one colour. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

const COLOURS: Readonly<Record<Tone, string>> = {
  plain: '',
  good: '\u001B[32m',
  warn: '\u001B[33m',
  bad: '\u001B[31m',
  quiet: '\u001B[2m',
};
const RESET = '\u001B[0m';

export function coloured(text: string, tone: Tone, hasColours: boolean): string {
  return hasColours && tone !== 'plain' && text.trim() !== '' ? COLOURS[tone] + text + RESET : text;
}

export function plain(text: string, tone: Tone = 'plain'): Span[] {
  return [{ text, tone }];
}
