import { OPTIONS, OPTION_KEYS, PREFIX, type Option, type Settings } from './options.ts';
import { PROXY_VARIABLES } from './other-variables.ts';
import { decoded } from './addresses.ts';
import type { Environment } from './values.ts';

/** As `/-/config` shows them: a secret is only `(set)`. */
export function redactedSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(
    OPTION_KEYS.map((key) => {
      const { variable, secret, shown }: Option = OPTIONS[key];
      const value = settings[key];
      const isShortened = shown !== undefined && typeof value === 'string';
      const described = secret && value !== undefined ? '(set)' : isShortened ? shown(value) : value;
      return [PREFIX + variable, described ?? null];
    }),
  );
}

/** Headers whose value is a credential; `x-scope-orgid` is not one. */
const CREDENTIAL = /auth|cookie|token|key|secret|password|passwd|credential|session|signature|dsn|team/;

export function credentialHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).filter(([name]) => CREDENTIAL.test(name));
}

/** `currentKey`: the key's file may have been read again since. */
export function credentialsOf(
  settings: Pick<Settings, 'apiKey'> & Partial<Settings>,
  currentKey: string,
  environment: Environment = process.env,
): string[] {
  const { appHealth, redisUrl, otlpHeaders = {} } = settings;
  const proxies = PROXY_VARIABLES.map((name) => environment[name]);
  const secrets = OPTION_KEYS.filter((key) => (OPTIONS[key] as Option).secret).map((key) => settings[key]);
  const found = [
    currentKey,
    ...secrets.filter((value) => typeof value === 'string'),
    ...[appHealth, redisUrl, ...proxies].flatMap((url) => loginOf(url)),
    ...credentialHeaders(otlpHeaders).flatMap(([, value]) => [value].concat(schemeless(value))),
  ];
  return [...new Set(found.filter((value) => value !== undefined && value !== ''))] as string[];
}

/** As written, decoded, and as HTTP sends it. A user without a password is a token. */
function loginOf(url: string | undefined): string[] {
  const { username = '', password = '' } = URL.parse(url ?? '') ?? {};
  if (username + password === '') return [];
  const secret = password === '' ? username : password;
  const sent = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return [secret, decoded(secret), sent];
}

/** `Bearer abc` contains the secret abc, and `Basic dXNlcjpwYXNz` a password. */
function schemeless(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [rest];
  const login = Buffer.from(rest, 'base64').toString('utf8');
  return [rest, login, login.slice(login.indexOf(':') + 1)];
}
