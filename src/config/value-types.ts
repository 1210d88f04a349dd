/** Nothing is coerced by accident: "" is not 0, and "no" is not true. values.ts trims the text. */
import { labelOf as labelOfDeployment, type Wanted } from '../heartbeat/discovery/wanted.ts';
import { labelOfWanted, type WantedRow } from '../contract/wanted.ts';

export interface ValueProblem {
  /** Place in the value, such as `[0].target_util`; empty for the whole value. */
  readonly at: string;
  readonly got: string;
  readonly allowed: string;
  readonly message?: string;
  readonly severity?: 'error' | 'warning' | 'note';
  readonly rule?: string;
}

interface Parsed<T> {
  /** Undefined after a problem of severity error. */
  readonly value: T | undefined;
  readonly problems: readonly ValueProblem[];
}

export interface ValueType<T> {
  readonly name: string;
  readonly parse: (text: string) => Parsed<T>;
}

export function fine<T>(value: T): Parsed<T> {
  return { value, problems: [] };
}

export function wrong<T>(got: string, allowed: string, message?: string): Parsed<T> {
  return { value: undefined, problems: [{ at: '', got, allowed, ...(message ? { message } : {}) }] };
}

/** `read` returns undefined for what is not allowed. */
export function valueType<T>(
  name: string,
  allowed: string,
  read: (text: string) => T | undefined,
): ValueType<T> {
  return {
    name,
    parse(text) {
      const value = read(text);
      return value === undefined ? wrong(text, allowed) : fine(value);
    },
  };
}

export const path = valueType('path', 'a path', (text) => text || undefined);

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const DURATION_ALLOWED = 'a duration such as 500ms, 20s, 5m or 1h, more than zero';
/** Above this, timers of Node fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Whole milliseconds, rounded up. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = DURATION.exec(text) ?? [];
  const ms = Math.ceil(Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS]);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

function durationBetween(text: string, leastMs: number, mostMs: number): number | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= leastMs && ms <= mostMs ? ms : undefined;
}

export const duration = valueType('duration', DURATION_ALLOWED, (text) => durationBetween(text, 1, Infinity));

/** For the delay of a timer: `maximum` is at most 2^31 - 1 ms. */
export function durationUpTo(maximum: string): ValueType<number> {
  const most = parseDuration(maximum) ?? 0;
  const allowed = `${DURATION_ALLOWED}, at most ${maximum}`;
  return valueType(`duration up to ${maximum}`, allowed, (text) => durationBetween(text, 1, most));
}

/** For a timer that must not fire more often. */
export function durationFrom(minimum: string): ValueType<number> {
  const least = parseDuration(minimum) ?? 0;
  const allowed = `a duration such as 15s or 1m, at least ${minimum}`;
  return valueType(`duration from ${minimum}`, allowed, (text) =>
    durationBetween(text, least, LONGEST_TIMER_MS),
  );
}

export const durationOrAuto = valueType('duration or auto', `auto, or ${DURATION_ALLOWED}`, (text) =>
  text.toLowerCase() === 'auto' ? 'auto' : durationBetween(text, 1, Infinity),
);

const UNITS_BYTES = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
} as const;
const BYTE_SIZE = /^(\d+(?:\.\d+)?)([KMG]i?B|B)?$/;

export const byteSize = valueType('size', 'a size such as 64MiB, 500KB or 1GiB, at least 1B', (text) => {
  const [, number, unit = 'B'] = BYTE_SIZE.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * UNITS_BYTES[unit as keyof typeof UNITS_BYTES]);
  return bytes >= 1 ? bytes : undefined;
});

function wholeNumber(text: string, least: number): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && number >= least && Number.isSafeInteger(number) ? number : undefined;
}

export const count = valueType('count', 'a whole number of at least 1, such as 10', (text) =>
  wholeNumber(text, 1),
);

export const id = valueType('id', 'an id: a whole number such as 42', (text) => wholeNumber(text, 0));

export const amount = valueType('number', 'a number above 0, such as 12.50', (text) => {
  const number = Number(text);
  return /^\d+(\.\d+)?$/.test(text) && number > 0 && Number.isFinite(number) ? number : undefined;
});

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

export const boolean = valueType('bool', 'true or false', (text) => BOOLEANS.get(text.toLowerCase()));

/** In any case. `others` are words that mean one of the values. */
export function oneOf<const T extends string>(
  values: readonly T[],
  others: Readonly<Record<string, NoInfer<T>>> = {},
): ValueType<T> {
  return valueType(values.join(', '), `one of ${values.join(', ')}`, (text) => {
    const word = text.toLowerCase();
    return (
      values.find((allowed) => allowed === word) ?? (Object.hasOwn(others, word) ? others[word] : undefined)
    );
  });
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Entries with the same label are the same. */
export function listOf<T>(
  item: ValueType<T>,
  labelOf: (value: T) => string = String,
): ValueType<readonly T[]> {
  return {
    name: `list of ${item.name}`,
    parse(text) {
      const parsed = splitList(text).map((entry) => item.parse(entry));
      const values = parsed.flatMap(({ value }) => (value === undefined ? [] : [value]));
      const problems = [...parsed.flatMap((entry) => entry.problems), ...repeats(values.map(labelOf))];
      return problems.length === 0 ? fine(values) : { value: undefined, problems };
    },
  };
}

/** A comma at the end adds no entry: templates leave one. */
export function splitList(text: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.slice(0, entries.findLastIndex((entry) => entry !== '') + 1);
}

function repeats(labels: readonly string[]): ValueProblem[] {
  const seen = new Set<string>();
  const repeated = new Set(labels.filter((label) => seen.size === seen.add(label).size));
  return Array.from(repeated, (label) => ({
    at: '',
    got: label,
    allowed: 'each entry once',
    message: `${label} is listed more than once`,
  }));
}

export const idList: ValueType<readonly number[]> = { ...listOf(id), name: 'list of ids' };

export const jsonArray: ValueType<readonly unknown[]> = {
  name: 'JSON array',
  parse(text) {
    const allowed = 'a JSON array of parameter objects such as [{"endpoint_name":"chat","target_util":0.9}]';
    try {
      const parsed: unknown = JSON.parse(text);
      return Array.isArray(parsed) ? fine(parsed) : wrong(text, allowed, 'not an array');
    } catch (error) {
      return wrong(text, allowed, `not JSON: ${(error as Error).message}`);
    }
  },
};

const NAME_PREFIX = 'name:';
const ALLOWED =
  'ID, name:NAME or name:NAME/TAG, each with or without @TTL, such as 42@300s or name:square/blue';
/** The service does not say which names it allows, so anything is that does not break the list. */
const NAME_ALLOWED = 'name:NAME or name:NAME/TAG, where NAME and TAG have no , @ / or control character';
// oxlint-disable-next-line no-control-regex -- a control character is what it looks for
const NAME = /^[^,@/\u0000-\u001f\u007f]+$/;

export const deploymentList = listOf(
  { name: 'ID, name:NAME or name:NAME/TAG, each with or without @TTL', parse: parseDeployment },
  labelOfDeployment,
);

function parseDeployment(entry: string): Parsed<Wanted> {
  const [subject = '', ttlText, ...rest] = entry.split('@');
  if (rest.length > 0) return wrong(entry, ALLOWED);
  const ttlMs = ttlText === undefined ? undefined : duration.parse(ttlText).value;
  if (ttlText !== undefined && ttlMs === undefined)
    return wrong(entry, `${subject || 'ID'}@TTL with TTL ${DURATION_ALLOWED}`);
  if (!subject.startsWith(NAME_PREFIX)) {
    const { value } = id.parse(subject);
    return value === undefined ? wrong(entry, ALLOWED) : fine({ by: 'id', id: value, ttlMs });
  }
  const [name = '', tag, ...more] = subject
    .slice(NAME_PREFIX.length)
    .split('/')
    .map((part) => part.trim());
  if (more.length > 0 || !NAME.test(name) || (tag !== undefined && !NAME.test(tag)))
    return wrong(entry, NAME_ALLOWED);
  return fine({ by: 'name', name, tag, ttlMs });
}

const wantedGroup = valueType(
  'ID, endpoint:NAME, or all',
  'the id of a worker group, endpoint:NAME, or all',
  (text): WantedRow | undefined => {
    if (text.toLowerCase() === 'all') return { by: 'all' };
    const [, name] = /^endpoint:\s*(.+)$/s.exec(text) ?? [];
    if (name !== undefined) return { by: 'name', name };
    const { value } = id.parse(text);
    return value === undefined ? undefined : { by: 'id', id: value };
  },
);

export const groupList = listOf(wantedGroup, (wanted) => labelOfWanted(wanted, 'endpoint:'));

const wantedEndpoint = valueType(
  'ID, NAME, or all',
  'the id or the name of an endpoint, or all',
  (text): WantedRow | undefined => {
    if (text === 'all') return { by: 'all' };
    const { value } = id.parse(text);
    if (value !== undefined) return { by: 'id', id: value };
    return text === '' ? undefined : { by: 'name', name: text };
  },
);

export const endpointList = listOf(wantedEndpoint, (wanted) => labelOfWanted(wanted));
