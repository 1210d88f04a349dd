/** Which texts must never be logged: the logger cuts them out of finished lines. */
import type { Settings } from '../../config/options/options.ts';

/** A shorter one also occurs in ordinary words and numbers, and in the line's own JSON. */
const SECRET_LENGTH = 8;
/** Headers whose value is a credential; `x-scope-orgid` is not secret. */
const CREDENTIAL = /authorization|cookie|token|key|secret|password|credential/;

/** In the form that they have in JSON too. */
export function secretsOf(settings: Settings, currentKey: string): string[] {
  const headers = Object.entries(settings.otlpHeaders ?? {});
  const values = [
    currentKey,
    settings.apiKey,
    settings.metricsToken,
    settings.redisUrl,
    redisPassword(settings.redisUrl),
    ...headers.flatMap(([name, value]) => (CREDENTIAL.test(name) ? [value] : [])),
  ].filter((value): value is string => value !== undefined && value.length >= SECRET_LENGTH);
  const written = values.map((value) => JSON.stringify(value).slice(1, -1));
  return [...new Set([...values, ...written])];
}

function redisPassword(url: string | undefined): string | undefined {
  const { password = '' } = url === undefined ? {} : new URL(url);
  return password === '' ? undefined : decodeURIComponent(password);
}
