/** Cuts known secrets out of text, however they are written, and 2FA codes by their field's name. */

export const REDACTED = '[redacted]';

/** Shorter secrets occur in ordinary words. */
const SHORTEST = 8;
/** A key that was rotated away may still open something. */
const KNOWN = 64;

/** Fields with a code of six digits, and the same in words. */
const CODE_FIELD = /(?:^|[_-])(?:code|otp|totp|pin)$|^\w*(?:[a-z](?:Code|Otp|Pin))$/i;
const CODE = /^\d{6}$/;
const MAY_HAVE_CODE = /(?:code|otp|pin)\W{0,12}\d{6}(?!\d)/i;
const CODE_IN_WORDS = /\b((?:\w*[_-])?(?:code|otp|totp|pin)\\*["']?\s*[:=]\s*\\*["']?)\d{6}(?!\d)/gi;

export class Redaction {
  readonly #current: () => readonly string[];
  readonly #patterns = new Map<string, readonly SecretPattern[]>();

  /** @param secrets Asked at each use, because keys rotate. */
  constructor(secrets: () => readonly string[]) {
    this.#current = secrets;
  }

  text(text: string): string {
    this.#learn();
    return this.#redacted(text);
  }

  json(text: string): string {
    this.#learn();
    if (!this.#mayHaveSecret(text) && !MAY_HAVE_CODE.test(text)) return text;
    try {
      const end = text.endsWith('\n') ? '\n' : '';
      return JSON.stringify(this.#value(JSON.parse(text))) + end;
    } catch {
      return this.#redacted(text);
    }
  }

  /** Returns no fields if they are too deep to search. */
  fields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    this.#learn();
    try {
      return this.#value(fields) as Readonly<Record<string, unknown>>;
    } catch {
      return {};
    }
  }

  metrics(text: string): string {
    this.#learn();
    if (!this.#mayHaveSecret(text)) return text;
    return text.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, (label) => `"${this.#redacted(label.slice(1, -1))}"`);
  }

  #learn(): void {
    for (const secret of this.#current()) {
      if (secret.length < SHORTEST) continue;
      const known = this.#patterns.get(secret) ?? secretPatterns(secret);
      // Those that were current last are kept longest.
      this.#patterns.delete(secret);
      this.#patterns.set(secret, known);
    }
    for (const secret of this.#patterns.keys())
      if (this.#patterns.size > KNOWN) this.#patterns.delete(secret);
  }

  #mayHaveSecret(text: string): boolean {
    for (const pieces of this.#patterns.values())
      if (pieces.some((piece) => isHinted(text, piece))) return true;
    return false;
  }

  #value(value: unknown, field = ''): unknown {
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      if (CODE_FIELD.test(field) && CODE.test(text)) return REDACTED;
      const redacted = this.#redacted(text);
      return redacted === text ? value : redacted;
    }
    if (Array.isArray(value)) return value.map((item) => this.#value(item, field));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.#redacted(name), this.#value(item, name)]),
    );
  }

  #redacted(text: string): string {
    const found = [...this.#patterns.values()].flat().flatMap((piece) => places(text, piece));
    return without(text, found).replaceAll(CODE_IN_WORDS, `$1${REDACTED}`);
  }
}

type Place = readonly [from: number, to: number];

function isHinted(text: string, { core, head }: SecretPattern): boolean {
  return text.includes(core) || text.includes(head);
}

function places(text: string, secret: SecretPattern): Place[] {
  if (!isHinted(text, secret)) return [];
  const { pattern } = secret;
  const found: Place[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    found.push([match.index, pattern.lastIndex]);
    pattern.lastIndex = match.index + 1;
  }
  return [...found, ...cutPlaces(text, secret)];
}

/** A cut text may end, or continue with an ellipsis, after a secret's beginning. */
function cutPlaces(text: string, { value, head }: SecretPattern): Place[] {
  const found: Place[] = [];
  for (let from = text.indexOf(head); from !== -1; from = text.indexOf(head, from + 1)) {
    let length = head.length;
    while (length < value.length && text[from + length] === value[length]) length += 1;
    const rest = text.slice(from + length, from + length + 4).trimStart();
    if (rest === '' || rest.startsWith('…') || rest.startsWith('...')) found.push([from, from + length]);
  }
  return found;
}

/** Overlapping secrets get one mark, as half of one would be left otherwise. */
function without(text: string, found: readonly Place[]): string {
  let [result, at] = ['', 0];
  for (const [from, to] of found.toSorted((one, other) => one[0] - other[0])) {
    if (from > at || at === 0) result += text.slice(at, from) + REDACTED;
    at = Math.max(at, to);
  }
  return result + text.slice(at);
}

interface SecretPattern {
  readonly value: string;
  readonly head: string;
  /** No way of writing changes this part. */
  readonly core: string;
  readonly pattern: RegExp;
}

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
  const parts = secret.match(/\w+/g) ?? [];
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
  if (token === ' ') ways.push('\\+');
  return `(?:${ways.join('|')})`;
}

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
