/** Which texts must never be written: those of the settings and of the environment that are credentials. */
import type { HeartSettings } from './options/heart-options.ts';
import { PROXY_VARIABLES } from './network.ts';
import type { Environment } from './values.ts';

/** Headers whose value is a credential; `x-scope-orgid` is none. */
const CREDENTIAL = /auth|cookie|token|key|secret|password|passwd|credential|session|signature|dsn|team/;

/** Those of `Name: value` headers whose value is to be kept secret. */
export function credentialHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).filter(([name]) => CREDENTIAL.test(name));
}

/** What of the settings may hold some. */
export type CredentialSettings = Pick<HeartSettings, 'apiKey'> & {
  readonly appHealth?: string | undefined;
  readonly metricsToken?: string | undefined;
  readonly redisUrl?: string | undefined;
  readonly otlpHeaders?: Readonly<Record<string, string>> | undefined;
};

/** `currentKey`: the file of the key may have been read again since. */
export function credentialsOf(
  { apiKey, appHealth, metricsToken, redisUrl, otlpHeaders = {} }: CredentialSettings,
  currentKey: string,
  environment: Environment = process.env,
): string[] {
  const proxies = PROXY_VARIABLES.map((name) => environment[name]);
  const found = [
    currentKey,
    apiKey,
    metricsToken,
    redisUrl,
    ...[appHealth, redisUrl, ...proxies].flatMap((url) => loginOf(url)),
    ...credentialHeaders(otlpHeaders).flatMap(([, value]) => [value].concat(schemeless(value))),
  ];
  return [...new Set(found.filter((value) => value !== undefined && value !== ''))] as string[];
}

/** What of an address lets one in: as it stands there, decoded, and as HTTP sends it. A user without a password is a token. */
function loginOf(url: string | undefined): string[] {
  const { username = '', password = '' } = url !== undefined && URL.canParse(url) ? new URL(url) : {};
  if (username + password === '') return [];
  const secret = password === '' ? username : password;
  const sent = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return [secret, decoded(secret), sent];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `Bearer abc` is abc too, and `Basic dXNlcjpwYXNz` the password in it. */
function schemeless(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [rest];
  const login = Buffer.from(rest, 'base64').toString('utf8');
  return [rest, login, login.slice(login.indexOf(':') + 1)];
}
