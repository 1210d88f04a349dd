/** Where a daemon with this environment listens, for commands that talk to it from the same machine. */
import { withEnvFile } from './env-file/effective.ts';
import { DAEMON_OPTIONS } from './options/daemon-options.ts';
import { PREFIX } from './options/option.ts';
import { readText } from './values.ts';

export function localDaemonUrl(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const { variable, type, fallback } = DAEMON_OPTIONS.listen;
  const { environment: effective } = withEnvFile(environment, readText);
  const address = type.parse(effective[PREFIX + variable] || fallback).value;
  const host = address?.host ?? '127.0.0.1';
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${address?.port ?? 9847}`;
}
