/** Where a daemon with this environment, and the file over it, listens: for commands on the same machine. */
import { withEnvFile } from './env-file/effective.ts';
import { DAEMON_OPTIONS } from './options/daemon-options.ts';
import { PREFIX } from './options/option.ts';
import { describeProblem } from './problem.ts';
import type { AdminAddress } from './types/admin-address.ts';
import type { ListenAddress } from './types/value-types.ts';
import { readRaw, readText, type Environment } from './values.ts';

const ANYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

export function localDaemonUrl(environment: Environment = process.env): string {
  const { variable, type, fallback } = DAEMON_OPTIONS.listen;
  const address = type.parse(effective(environment)[PREFIX + variable] || fallback).value;
  return urlOf(address ?? { host: '127.0.0.1', port: 9847 });
}

/** `http://host:port`, or `unix:/path`; what is wrong with the variable, where there is none. */
export function localAdminUrl(
  environment: Environment = process.env,
): { readonly url: string } | { readonly problem: string } {
  const { variable, type, fallback } = DAEMON_OPTIONS.adminListen;
  const { text, problem } = readRaw(DAEMON_OPTIONS.adminListen, effective(environment), readText);
  if (problem) return { problem: describeProblem(problem) };
  const address: AdminAddress | undefined = type.parse(text ?? fallback).value;
  if (!address) return { problem: `${PREFIX + variable}: got ${text}; allowed: ${type.name}` };
  return { url: 'path' in address ? `unix:${address.path}` : urlOf(address) };
}

/** What the daemon asks for; undefined where the environment has none, or a file that cannot be read. */
export function localToken(environment: Environment = process.env): string | undefined {
  return readRaw(DAEMON_OPTIONS.metricsToken, effective(environment), readText).text;
}

function effective(environment: Environment): Environment {
  return withEnvFile(environment, readText).environment;
}

function urlOf({ host, port }: ListenAddress): string {
  const reachable = ANYWHERE.has(host) ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
