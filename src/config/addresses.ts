/** No message shows a password or a token. */
import { isIP } from 'node:net';
import { keyProblem } from '../client/api-key.ts';
import { fine, splitList, valueType, wrong, type ValueType } from './value-types.ts';

/** Without the part before an @ and the query, which may be credentials. */
export function withoutCredentials(value: string): string {
  return value.replace(/(?<![^/\s])[^/\s]*@/g, '…@').replace(/[?#].*$/s, '?…');
}

function canDecode({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password) !== undefined;
  } catch {
    return false;
  }
}

export const url: ValueType<string> = {
  name: 'url',
  parse(text) {
    const allowed = 'an http or https address such as https://console.example.com';
    const refused = (without = '') => wrong<string>(withoutCredentials(text), allowed + without);
    const parsed = URL.parse(text);
    if (!parsed) return refused();
    const { protocol, origin, pathname, username, password, search, hash } = parsed;
    if (protocol !== 'http:' && protocol !== 'https:') return refused();
    if (username || password) return refused(', without a user or password in it');
    if (search || hash) return refused(', without a query or fragment');
    return fine(trimSlash(origin + pathname));
  },
};

/** Each path of the interface begins with this, so an address must not end with it. */
const API_ROOT = /(?:\/api\/v0)+$/i;

export const serviceUrl: ValueType<string> = {
  name: 'url',
  parse(text) {
    const parsed = url.parse(text);
    if (parsed.value === undefined || !API_ROOT.test(parsed.value)) return parsed;
    const value = trimSlash(parsed.value.replace(API_ROOT, ''));
    const message = `/api/v0 is added to each request anyway; using ${value}`;
    return { value, problems: [{ at: '', got: text, allowed: value, message, severity: 'warning' }] };
  },
};

function trimSlash(address: string): string {
  return address.replace(/(?<!\/)\/+$/, '');
}

export const appAddress: ValueType<string> = {
  name: 'http, https or tcp address',
  parse(text) {
    const allowed =
      'http://… or https://…, which answers 2xx while the app is healthy, such as http://127.0.0.1:8000/health; or tcp://host:port';
    const problem = appProblem(text);
    return problem === undefined ? fine(text) : wrong(withoutCredentials(text), allowed, problem);
  },
};

function appProblem(text: string): string | undefined {
  const address = URL.parse(text);
  if (!address) return 'not an address';
  const { protocol, hostname, port, hash, pathname, search, username, password } = address;
  if (!['http:', 'https:', 'tcp:'].includes(protocol)) return `${protocol}// is not supported`;
  if (hostname === '') return 'the host is missing';
  if (hash !== '') return 'a fragment is never sent';
  if (!canDecode(address)) return 'the user or password has a % that encodes nothing';
  if (protocol !== 'tcp:') return undefined;
  if (port === '' || port === '0') return 'the port is missing';
  const isBare = username + password + search === '' && /^\/?$/.test(pathname);
  return isBare ? undefined : 'a tcp address has only a host and a port';
}

export interface ListenAddress {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

export const listenAddress = valueType(
  'host:port',
  'host:port, such as 0.0.0.0:9847 or [::1]:9847; port 0 picks a free one',
  (text): ListenAddress | undefined => {
    const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(text);
    // A port alone means all addresses, as in other programs.
    const host = match?.[1] ?? (match?.[2] || '0.0.0.0');
    const port = Number(match?.[3]);
    const hostValid = isIP(host) !== 0 || /^[a-z\d.-]+$/i.test(host);
    return match && hostValid && port <= 65_535 ? { host, port } : undefined;
  },
);

/** Only programs of this user can open the socket `unix:/path`. */
export type AdminAddress = ListenAddress | { readonly path: string };

const SCHEME = 'unix:';
/** Linux allows 107 bytes, macOS 103, and a longer path is truncated silently. */
const PATH_BYTES = 103;

export const adminAddress: ValueType<AdminAddress> = {
  name: 'host:port or unix:PATH',
  parse(text) {
    const allowed = `host:port, such as 127.0.0.1:9848, or ${SCHEME} and an absolute path of at most ${PATH_BYTES} bytes, such as ${SCHEME}/run/pilotlight/admin.sock`;
    if (!text.startsWith(SCHEME)) {
      const { value } = listenAddress.parse(text);
      return value ? fine(value) : wrong(text, allowed);
    }
    const path = text.slice(SCHEME.length);
    const bytes = Buffer.byteLength(path);
    if (bytes > PATH_BYTES) return wrong(text, allowed, `the path has ${bytes} bytes`);
    return /^\/[^\0]*[^/\0]$/.test(path)
      ? fine({ path })
      : wrong(text, allowed, 'not the absolute path of a file');
  },
};

export const redisUrl = valueType(
  'url',
  'an address such as redis://redis:6379/0, or rediss:// for TLS',
  (text) => {
    const address = URL.parse(text);
    if (!address) return undefined;
    const isRedis = address.protocol === 'redis:' || address.protocol === 'rediss:';
    // The path, if any, is the number of a database.
    return isRedis && /^\/?\d*$/.test(address.pathname) && canDecode(address) ? text : undefined;
  },
);

/** Braces would tell a cluster where to store a key; we add our own. */
export const redisPrefix = valueType('text', 'up to 64 letters, digits and characters of _ . : / -', (text) =>
  /^[\w.:/-]{1,64}$/.test(text) ? text : undefined,
);

export const apiKey: ValueType<string> = {
  name: 'text',
  parse(text) {
    const problem = keyProblem(text);
    if (problem === undefined) return fine(text.trim());
    return wrong(text, 'visible ASCII characters', `the key ${problem}`);
  },
};

/** An HTTP header cannot contain other characters. */
export const token = valueType('text', 'at most 8000 visible ASCII characters, and spaces between', (text) =>
  /^[ -~]{1,8000}$/.test(text) ? text : undefined,
);

/** RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const HEADER_VALUE = /^[\t\u0020-\u007E]+$/;
/** Set by the request itself. */
const RESERVED = /^(?:host|connection|transfer-encoding|content-.*)$/;

/** The syntax of OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20abc,x-scope=team`. */
export const headerList = valueType(
  'list of name=value',
  'HTTP headers such as authorization=Bearer%20abc,x-scope=team, values percent-encoded, none of content-…',
  (text): Readonly<Record<string, string>> | undefined => {
    const headers = splitList(text).map(parseHeader);
    return headers.every((header) => header !== undefined) ? Object.fromEntries(headers) : undefined;
  },
);

function parseHeader(text: string): readonly [string, string] | undefined {
  const [name = '', ...encoded] = text.split('=');
  const value = decoded(encoded.join('=').trim());
  if (!HEADER_NAME.test(name) || RESERVED.test(name.toLowerCase()) || !HEADER_VALUE.test(value))
    return undefined;
  return [name.toLowerCase(), value];
}

/** A token may have a percent sign that encodes nothing. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
