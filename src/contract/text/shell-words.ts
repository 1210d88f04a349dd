/**
 * Text ↔ words as a POSIX shell splits them, with quotes and escapes; nothing is expanded, and `#`, `;`, `&`
 * and their like stand for themselves. Pure; container flags and registry logins are written so.
 */
import { PilotlightError } from '../pilotlight-error.ts';

export interface ShellWord {
  /** Quotes and escapes taken away. */
  readonly text: string;
  /** Where it begins, in characters from 1. */
  readonly position: number;
}

/** A text of flags that cannot be read: where, and which rule it breaks. */
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

/** One token at a place, and the text that it stands for. The first that fits is the one. */
const TOKENS: readonly { readonly pattern: RegExp; readonly read: (inside: string) => string }[] = [
  { pattern: /([^ \t\n'"\\]+)/y, read: (inside) => inside },
  { pattern: /'([^']*)'/y, read: (inside) => inside },
  // Between double quotes a backslash escapes these five only, and stays before any other character.
  {
    pattern: /"([^"\\]*(?:\\[^][^"\\]*)*)"/y,
    read: (inside) => inside.replaceAll(/\\([$`"\\\n])/g, (_, escaped: string) => unescape(escaped)),
  },
  { pattern: /\\([^])/y, read: unescape },
];

const SPACE = /[ \t\n]+|(?:\\\n)+/y;

/** @throws FlagError for a quote that does not end, or a backslash with nothing after it */
export function splitWords(text: string): ShellWord[] {
  return split(text, shellToken);
}

/**
 * The same where quotes need not be balanced, as in `it's`. If they are, they are a shell's. If not, those within a word
 * are text, and so is one that does not end: `it's 'a b'` is the words `it's` and `a b`.
 * @throws FlagError for a backslash with nothing after it
 */
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

/** The text as one word that `splitWords` reads back, quoted where it has to be. */
export function quoteWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A backslash before a line break joins the two lines. */
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

/** undefined for a quote that does not end, or a backslash with nothing after it. */
function tokenAt(text: string, at: number): Token | undefined {
  for (const { pattern, read } of TOKENS) {
    pattern.lastIndex = at;
    const inside = pattern.exec(text)?.[1];
    if (inside !== undefined) return { text: read(inside), end: pattern.lastIndex };
  }
  return undefined;
}

/** A quote after a letter or the like belongs to the word; one at its beginning, after `=`, or after another quote opens. */
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
