/** How a secret may be written: as it is, in JSON, which may be text in JSON again, and percent-encoded. Pure. */

/** What no way of writing changes. */
const UNCHANGED = /\w+/g;

/** A secret, ready to be looked for. */
export interface SecretPattern {
  readonly value: string;
  /** Its beginning: where a text was cut, it may be all that is left. */
  readonly head: string;
  /** A part of it that stands in the text however it is written; where that is not there, nothing is. */
  readonly core: string;
  readonly pattern: RegExp;
}

/** Of what a text may show of a secret without a harm, in characters. */
const HEAD = 8;

/** A longer one is looked for in pieces, in characters: a pattern of all of it could be too large, or take too long. */
const PIECE = 256;

/** Of each piece of a secret; most are one. */
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

/** A backslash, as it is or percent-encoded. */
const BACKSLASH = String.raw`(?:\\|%(?:25)*5[Cc])`;
/** The same, or as JSON writes it by its number: what a text has of it that is JSON in JSON. */
const ESCAPE = String.raw`(?:${BACKSLASH}{1,16}u005[cC]|${BACKSLASH})`;
/** More in a row are nobody's way of writing; without a bound, hostile text could make the search for ever long. */
const ESCAPES = `${ESCAPE}{0,16}`;

/** One character, or several backslashes: of these any way of writing has at least as many. */
function writtenAs(token: string): string {
  if (token.startsWith('\\')) return `${ESCAPE}{${token.length},}`;
  if (/^\w$/.test(token)) return token;
  const ways = [literal(token), percentEncoded(token), unicodeEscapes(token)].map((way) => ESCAPES + way);
  const short = SHORT_ESCAPES[token];
  if (short !== undefined) ways.push(`${ESCAPE}{1,16}${short}`);
  if (token === ' ') ways.push('\\+');
  return `(?:${ways.join('|')})`;
}

/** JSON's own. */
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

/** In capitals or not, and encoded once or several times. */
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
