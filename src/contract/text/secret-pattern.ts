/** How a secret may be written: plain, in JSON (perhaps in JSON again), and percent-encoded. */

const UNCHANGED = /\w+/g;

export interface SecretPattern {
  readonly value: string;
  /** A cut text may hold only this beginning. */
  readonly head: string;
  /** No way of writing changes this part. */
  readonly core: string;
  readonly pattern: RegExp;
}

/** A text may show this many characters of a secret. */
const HEAD = 8;

/** Longer secrets are searched in pieces: one pattern would be too large or too slow. */
const PIECE = 256;

export function secretPatterns(secret: string): readonly SecretPattern[] {
  const characters = Array.from(secret);
  const pieces = Math.ceil(characters.length / PIECE);
  const length = Math.ceil(characters.length / pieces);
  const found = Array.from({ length: pieces }, (_, index) =>
    characters.slice(index * length, (index + 1) * length).join(''),
  );
  return Array.from(new Set(found), secretPattern);
}

function secretPattern(secret: string): SecretPattern {
  const parts = secret.match(UNCHANGED) ?? [];
  const core = parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
  const tokens = secret.match(/\\+|[^\\]/gu) ?? [];
  const written = tokens.map((token) => writtenAs(token)).join('');
  return { value: secret, head: secret.slice(0, HEAD), core, pattern: new RegExp(written, 'g') };
}

const BACKSLASH = String.raw`(?:\\|%(?:25)*5[Cc])`;
/** JSON in JSON writes a backslash by its number. */
const ESCAPE = String.raw`(?:${BACKSLASH}{1,16}u005[cC]|${BACKSLASH})`;
/** Without a bound, hostile text could make the search endless. */
const ESCAPES = `${ESCAPE}{0,16}`;

/** Any way of writing has at least as many backslashes. */
function writtenAs(token: string): string {
  if (token.startsWith('\\')) return `${ESCAPE}{${token.length},}`;
  if (/^\w$/.test(token)) return token;
  const ways = [literal(token), percentEncoded(token), unicodeEscapes(token)].map((way) => ESCAPES + way);
  const short = SHORT_ESCAPES[token];
  if (short !== undefined) ways.push(`${ESCAPE}{1,16}${short}`);
  if (token === ' ') ways.push('\\+');
  return `(?:${ways.join('|')})`;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\b': 'b',
  '\f': 'f',
};

function literal(character: string): string {
  return character.replace(/[$()*+.?[\\\]^{|}/]/, String.raw`\$&`);
}

function percentEncoded(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `%(?:25)*${digits(byte.toString(16).padStart(2, '0'))}`).join('');
}

function unicodeEscapes(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `${BACKSLASH}{1,16}u${digits(unit.toString(16).padStart(4, '0'))}`).join('');
}

function digits(hexadecimal: string): string {
  return hexadecimal.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
