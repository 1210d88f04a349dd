/** Splits text into words as a POSIX shell does. Nothing is expanded; `#`, `;` and `&` are text. */
import { PilotlightError } from '../pilotlight-error.ts';

interface ShellWord {
  readonly text: string;
  /** In characters from 1. */
  readonly position: number;
}

/** Flags are unreadable at `position` (in characters from 1), and break `rule`. */
export class FlagError extends PilotlightError {
  readonly code = 'unreadable_flags';
  readonly actor = 'user';
  /** In characters from 1. */
  readonly position: number;
  readonly rule: string;

  constructor(position: number, rule: string) {
    super(`at character ${position}: ${rule}`);
    this.position = position;
    this.rule = rule;
  }
}

const TOKENS: readonly { readonly pattern: RegExp; readonly read: (inside: string) => string }[] = [
  { pattern: /([^ \t\n'"\\]+)/y, read: (inside) => inside },
  { pattern: /'([^']*)'/y, read: (inside) => inside },
  // Between double quotes a backslash escapes these five only.
  {
    pattern: /"([^"\\]*(?:\\[^][^"\\]*)*)"/y,
    read: (inside) => inside.replaceAll(/\\([$`"\\\n])/g, (_, escaped: string) => unescape(escaped)),
  },
  { pattern: /\\([^])/y, read: unescape },
];

const SPACE = /[ \t\n]+|(?:\\\n)+/y;

export function splitWords(text: string): ShellWord[] {
  return split(text, shellToken);
}

/** Takes unbalanced quotes too: `it's 'a b'` is the words `it's` and `a b`. */
export function splitLooseWords(text: string): ShellWord[] {
  return split(text, areQuotesBalanced(text) ? shellToken : looseToken);
}

function areQuotesBalanced(text: string): boolean {
  const rest = text.replaceAll(/\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"/g, '');
  return !/['"]/.test(rest);
}

interface Token {
  readonly text: string;
  readonly end: number;
}

function split(text: string, nextToken: (text: string, at: number) => Token): ShellWord[] {
  const words: ShellWord[] = [];
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const position = at + 1;
    let word = '';
    while (at < text.length && !/[ \t\n]/.test(text.charAt(at))) {
      const token = nextToken(text, at);
      word += token.text;
      at = token.end;
    }
    words.push({ text: word, position });
    at = skipSpace(text, at);
  }
  return words;
}

export function quoteWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function unescape(escaped: string): string {
  return escaped === '\n' ? '' : escaped;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    SPACE.lastIndex = at;
    if (!SPACE.test(text)) return at;
    at = SPACE.lastIndex;
  }
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const { pattern, read } of TOKENS) {
    pattern.lastIndex = at;
    const inside = pattern.exec(text)?.[1];
    if (inside !== undefined) return { text: read(inside), end: pattern.lastIndex };
  }
  return undefined;
}

/** A quote opens at the beginning of a word, after `=`, or after another quote; elsewhere it is text. */
function looseToken(text: string, at: number): Token {
  const isQuote = /['"]/.test(text.charAt(at));
  const isWithin = at > 0 && !/[\s='"]/.test(text.charAt(at - 1));
  const token = isQuote && isWithin ? undefined : tokenAt(text, at);
  return token ?? (isQuote ? { text: text.charAt(at), end: at + 1 } : shellToken(text, at));
}

function shellToken(text: string, at: number): Token {
  const token = tokenAt(text, at);
  if (token) return token;
  const open = text.charAt(at);
  throw new FlagError(
    at + 1,
    open === '\\' ? 'a backslash needs a character after it' : `the quote ${open} does not end`,
  );
}
