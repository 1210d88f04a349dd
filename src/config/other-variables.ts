/** Variables without our prefix. Their problems are listed at start, before a heartbeat fails. */
import type { ReadFile } from './files.ts';
import { PREFIX } from './options.ts';
import { configError, configWarning, type ConfigProblem } from './problem.ts';
import { withoutCredentials } from './addresses.ts';
import type { Environment } from './values.ts';

export const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'] as const;
const PROXY_PROTOCOLS = new Set(['http:', 'https:', 'socks5:']);
const CERTIFICATES = 'NODE_EXTRA_CA_CERTS';

export function networkProblems(environment: Environment, readFile: ReadFile): ConfigProblem[] {
  return [
    ...ignoredProxyProblems(environment),
    ...PROXY_VARIABLES.flatMap((variable) => proxyProblem(variable, environment[variable])),
    ...certificateProblem(environment[CERTIFICATES], readFile),
  ];
}

/** Other programs understand these; our HTTP client ignores them. */
function ignoredProxyProblems(environment: Environment): ConfigProblem[] {
  const all = ['ALL_PROXY', 'all_proxy']
    .filter((name) => environment[name])
    .map((name) => configWarning(name, 'a value', 'HTTPS_PROXY or HTTP_PROXY', 'this variable is not read'));
  const allowed = 'names, *.names and addresses, each with or without a port';
  const ranges = ['NO_PROXY', 'no_proxy'].flatMap((name) =>
    (environment[name] ?? '')
      .split(/[\s,]+/)
      .filter((entry) => entry.includes('/') || /.\*/.test(entry))
      .map((entry) => configWarning(name, entry, allowed, 'this entry matches nothing')),
  );
  return [...all, ...ranges];
}

function proxyProblem(variable: string, value: string | undefined): ConfigProblem[] {
  if (!value || PROXY_PROTOCOLS.has(URL.parse(value)?.protocol ?? '')) return [];
  // It may have a password in it.
  const got = value.includes('@') ? 'an address with a user in it' : value;
  const allowed = 'the address of a proxy, such as http://proxy.example.com:3128';
  const why = 'the service cannot be reached through it; unset it to go without a proxy';
  return [configError(variable, got, allowed, why)];
}

/** A warning only: Node has started without the file, which may exist at the next start. */
function certificateProblem(path: string | undefined, readFile: ReadFile): ConfigProblem[] {
  if (!path) return [];
  const warning = (message: string): ConfigProblem[] => [
    configWarning(CERTIFICATES, path, 'a readable file of PEM certificates', message),
  ];
  try {
    const isFound = readFile(path).includes('-----BEGIN CERTIFICATE-----');
    return isFound ? [] : warning('there is no certificate in it');
  } catch (error) {
    return warning((error as Error).message);
  }
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Warns if `what`, which each request carries, could be read on its way. */
export function plainHttpProblems(
  variable: string,
  address: string | undefined,
  what: string,
): ConfigProblem[] {
  if (!address?.startsWith('http:') || LOOPBACK.test(new URL(address).hostname)) return [];
  const message = `${what} leaves this machine unencrypted`;
  return [configWarning(PREFIX + variable, withoutCredentials(address), 'https://…', message)];
}

export interface ServiceManagerSettings {
  /** Half of what systemd allows; undefined: no watchdog. */
  readonly watchdogMs: number | undefined;
}

/** sd_notify(3), sd_watchdog_enabled(3). The watchdog may be meant for another process. */
export function serviceManagerSettings(
  environment: Environment = process.env,
  pid: number = process.pid,
): ServiceManagerSettings | undefined {
  if (!environment['NOTIFY_SOCKET']) return undefined;
  const { WATCHDOG_USEC: usec, WATCHDOG_PID: watched } = environment;
  const limitMs = Number(usec) / 1000;
  const ours = watched === undefined || watched === '' || Number(watched) === pid;
  return { watchdogMs: ours && limitMs > 0 ? limitMs / 2 : undefined };
}

const MALLOC_LIMIT = 'MALLOC_MMAP_THRESHOLD_';
const DAEMON_MALLOC_LIMIT = '131072';

/** The image lowers malloc's limit for the heart; the daemon would spend a third of its CPU with it. */
export function daemonEnvironment(environment: Environment = process.env): Environment {
  return environment[MALLOC_LIMIT] === undefined
    ? environment
    : { ...environment, [MALLOC_LIMIT]: DAEMON_MALLOC_LIMIT };
}

/** For a child process that is configured otherwise. */
export function environmentOfOthers(environment: Environment = process.env): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith(PREFIX)));
}
