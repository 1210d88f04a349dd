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

export function secretPattern(secret: string): SecretPattern {
  const parts = secret.match(UNCHANGED) ?? [];
  const core = parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
  const tokens = secret.match(/\\+|[^\\]/gu) ?? [];
  const written = tokens.map((token) => writtenAs(token)).join('');
  return { value: secret, head: secret.slice(0, HEAD), core, pattern: new RegExp(written, 'g') };
}

/** What JSON has before a character, which may be percent-encoded with it. */
const ESCAPE = String.raw`(?:\\|%(?:25)*5[Cc])`;

/** One character, or several backslashes: of these any way of writing has at least as many. */
function writtenAs(token: string): string {
  if (token.startsWith('\\')) return String.raw`(?:${ESCAPE}+u005[cC]|${ESCAPE}){${token.length},}`;
  if (/^\w$/.test(token)) return token;
  const ways = [`${ESCAPE}*${literal(token)}`, `${ESCAPE}*${percentEncoded(token)}`, unicodeEscapes(token)];
  const short = SHORT_ESCAPES[token];
  if (short !== undefined) ways.push(`${ESCAPE}+${short}`);
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
  return units.map((unit) => `${ESCAPE}+u${digits(unit.toString(16).padStart(4, '0'))}`).join('');
}

function digits(hexadecimal: string): string {
  return hexadecimal.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
