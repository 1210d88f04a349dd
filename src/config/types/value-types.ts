/**
 * The value types of environment variables: text in, value or problems out, pure. No coercion by accident: an
 * empty string is not 0, and "no" is not true. But words are read as people write them: `True`, `1`, `INFO`.
 */
import { isIP } from 'node:net';
import { keyProblem } from '../../client/api-key.ts';

/** One thing wrong with a value. */
export interface ValueProblem {
  /** Place inside the value, e.g. `[0].target_util`; empty for the value as a whole. */
  readonly at: string;
  readonly got: string;
  readonly allowed: string;
  readonly message?: string;
  readonly severity?: 'error' | 'warning' | 'note';
  /** Stable id of the rule that it breaks, for endpoint-group parameters. */
  readonly rule?: string;
}

export interface Parsed<T> {
  /** Undefined when a problem of severity error was found. */
  readonly value: T | undefined;
  readonly problems: readonly ValueProblem[];
}

export interface ValueType<T> {
  /** Short name for the table of variables: `duration`, `list of ids`. */
  readonly name: string;
  readonly parse: (text: string) => Parsed<T>;
}

function fine<T>(value: T): Parsed<T> {
  return { value, problems: [] };
}

function wrong<T>(got: string, allowed: string, message?: string): Parsed<T> {
  return { value: undefined, problems: [{ at: '', got, allowed, ...(message ? { message } : {}) }] };
}

/** A secret that others send as a Bearer token: what no HTTP header holds would lock all of them out, without a word. */
export const token: ValueType<string> = {
  name: 'text',
  parse(value) {
    const given = value.trim();
    return /^[ -~]{1,8000}$/.test(given)
      ? fine(given)
      : wrong(value, 'at most 8000 visible ASCII characters, and spaces between');
  },
};

/** What an HTTP header can hold as a Bearer token. White space around it is not part of it. */
export const apiKey: ValueType<string> = {
  name: 'text',
  parse(value) {
    const problem = keyProblem(value);
    return problem === undefined
      ? fine(value.trim())
      : wrong(value, 'visible ASCII characters', `the key ${problem}`);
  },
};

export const path: ValueType<string> = {
  name: 'path',
  parse: (value) => (value === '' ? wrong(value, 'a path') : fine(value)),
};

export const url: ValueType<string> = {
  name: 'url',
  parse(value) {
    const allowed = 'an http or https address such as https://console.example.com';
    if (!URL.canParse(value)) return wrong(withoutCredentials(value), allowed);
    const parsed = new URL(value);
    if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
      return wrong(withoutCredentials(value), allowed);
    if (parsed.username || parsed.password) {
      return wrong(withoutCredentials(value), `${allowed}, without a user or password in it`);
    }
    if (parsed.search || parsed.hash)
      return wrong(withoutCredentials(value), `${allowed}, without a query or fragment`);
    return fine(trimSlash(value));
  },
};

/** The paths of the interface document begin with this, so an address that ends in it would have it twice. */
const API_ROOT = /\/api\/v0$/;

/** The address of the service. */
export const serviceUrl: ValueType<string> = {
  name: 'url',
  parse(given) {
    const parsed = url.parse(given);
    if (parsed.value === undefined || !API_ROOT.test(parsed.value)) return parsed;
    const value = trimSlash(parsed.value.replace(API_ROOT, ''));
    const message = `the paths of the service have /api/v0 themselves; ${value} is used`;
    return { value, problems: [{ at: '', got: given, allowed: value, message, severity: 'warning' }] };
  },
};

function trimSlash(value: string): string {
  return value.replace(/(?<!\/)\/+$/, '');
}

/** An address without what may hold credentials: what stands before an @, and a query. */
export function withoutCredentials(value: string): string {
  return value.replace(/(?<![^/\s])[^/\s]*@/g, '…@').replace(/[?#].*$/s, '?…');
}

/** User and password are percent-encoded, and a percent sign that encodes nothing cannot be decoded. */
export function canDecode({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password) !== undefined;
  } catch {
    return false;
  }
}

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** Whole milliseconds of `500ms`, `20s`, `5m`, `1h`, rounded up; undefined for anything else. */
export function parseDuration(value: string): number | undefined {
  const match = DURATION.exec(value);
  if (!match) return undefined;
  const ms = Math.ceil(Number(match[1]) * UNITS_MS[match[2] as keyof typeof UNITS_MS]);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

export const DURATION_ALLOWED = 'a duration such as 500ms, 20s, 5m or 1h, more than zero';

export const duration: ValueType<number> = {
  name: 'duration',
  parse(value) {
    const ms = parseDuration(value);
    return ms === undefined || ms <= 0 ? wrong(value, DURATION_ALLOWED) : fine(ms);
  },
};

/** Node's timers take no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** For what a timer waits for: Node's timers take no more than 2^31 - 1 ms, and fire at once above that. */
export function durationUpTo(maximum: string): ValueType<number> {
  const limit = parseDuration(maximum) ?? 0;
  return {
    name: `duration up to ${maximum}`,
    parse(value) {
      const ms = parseDuration(value);
      const inRange = ms !== undefined && ms > 0 && ms <= limit;
      return inRange ? fine(ms) : wrong(value, `${DURATION_ALLOWED}, at most ${maximum}`);
    },
  };
}

/** For what must not happen more often. */
export function durationFrom(minimum: string): ValueType<number> {
  const limit = parseDuration(minimum) ?? 0;
  return {
    name: `duration from ${minimum}`,
    parse(value) {
      const ms = parseDuration(value);
      const inRange = ms !== undefined && ms >= limit && ms <= LONGEST_TIMER_MS;
      return inRange ? fine(ms) : wrong(value, `a duration such as 15s or 1m, at least ${minimum}`);
    },
  };
}

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

/** Bytes of `64MiB`, `500KB`, `1GiB`, or of a number alone. */
export const byteSize: ValueType<number> = {
  name: 'size',
  parse(value) {
    const match = BYTE_SIZE.exec(value);
    const bytes = Math.floor(
      Number(match?.[1]) * UNITS_BYTES[(match?.[2] ?? 'B') as keyof typeof UNITS_BYTES],
    );
    return bytes >= 1 ? fine(bytes) : wrong(value, 'a size such as 64MiB, 500KB or 1GiB, at least 1B');
  },
};

/** A whole number from 1 on. */
export const count: ValueType<number> = {
  name: 'count',
  parse(value) {
    const number = Number(value);
    const valid = /^\d+$/.test(value) && number >= 1 && Number.isSafeInteger(number);
    return valid ? fine(number) : wrong(value, 'a whole number from 1 on, such as 10');
  },
};

/** Of money: a number above 0, written without a currency. */
export const amount: ValueType<number> = {
  name: 'number',
  parse(value) {
    const number = Number(value);
    const valid = /^\d+(\.\d+)?$/.test(value) && number > 0 && Number.isFinite(number);
    return valid ? fine(number) : wrong(value, 'a number above 0, such as 12.50');
  },
};

export const durationOrAuto: ValueType<number | 'auto'> = {
  name: 'duration or auto',
  parse(value) {
    if (value === 'auto') return fine(value);
    const ms = parseDuration(value);
    return ms === undefined || ms <= 0 ? wrong(value, `auto, or ${DURATION_ALLOWED}`) : fine(ms);
  },
};

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

export const boolean: ValueType<boolean> = {
  name: 'bool',
  parse(value) {
    const found = BOOLEANS.get(value.trim().toLowerCase());
    return found === undefined ? wrong(value, 'true or false') : fine(found);
  },
};

/** In any case. */
export function oneOf<const T extends string>(...values: readonly T[]): ValueType<T> {
  return oneOfAlso({}, ...values);
}

/** `others`: words that mean one of the values. */
export function oneOfAlso<const T extends string>(
  others: Readonly<Record<string, T>>,
  ...values: readonly T[]
): ValueType<T> {
  return {
    name: values.join(', '),
    parse(value) {
      const word = value.trim().toLowerCase();
      const found = values.find((allowed) => allowed === word) ?? others[word];
      return found === undefined ? wrong(value, `one of ${values.join(', ')}`) : fine(found);
    },
  };
}

export function listOf<T>(name: string, item: ValueType<T>): ValueType<readonly T[]> {
  return {
    name,
    parse(value) {
      const parsed = splitList(value).map((entry) => item.parse(entry));
      const problems = parsed.flatMap((entry) => entry.problems);
      const values = parsed.flatMap((entry) => (entry.value === undefined ? [] : [entry.value]));
      return { value: values.length === parsed.length ? values : undefined, problems };
    },
  };
}

export function splitList(value: string): string[] {
  const trimmed = value.trim();
  return trimmed === '' ? [] : trimmed.split(',').map((entry) => entry.trim());
}

export const id: ValueType<number> = {
  name: 'id',
  parse(value) {
    const number = Number(value);
    const valid = /^\d+$/.test(value) && Number.isSafeInteger(number);
    return valid ? fine(number) : wrong(value, 'an id: a whole number such as 42');
  },
};

/** Ids, each once. */
export const idList: ValueType<readonly number[]> = unique(listOf('list of ids', id), (value) => value);

export function unique<T>(
  list: ValueType<readonly T[]>,
  key: (item: T) => number | string,
): ValueType<readonly T[]> {
  return {
    name: list.name,
    parse(value) {
      const parsed = list.parse(value);
      const keys = (parsed.value ?? []).map((item) => key(item));
      const seen = new Set<number | string>();
      const repeated = keys.find((one) => seen.size === seen.add(one).size);
      if (repeated === undefined) return parsed;
      return wrong(value, 'each one once', `${repeated} is listed more than once`);
    },
  };
}

export interface ListenAddress {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

export const listenAddress: ValueType<ListenAddress> = {
  name: 'host:port',
  parse(value) {
    const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(value);
    // As others write it, a port alone is one of all addresses.
    const host = match?.[1] ?? (match?.[2] || '0.0.0.0');
    const port = Number(match?.[3]);
    const hostValid = host === 'localhost' || isIP(host) !== 0 || /^[a-z\d.-]+$/i.test(host);
    if (!match || !hostValid || port > 65_535) {
      return wrong(value, 'host:port, such as 0.0.0.0:9847 or [::1]:9847; port 0 picks a free one');
    }
    return fine({ host, port });
  },
};
