/**
 * The variables outside the PILOTLIGHT_ prefix that decide how the service is reached. The HTTP client reads the
 * proxies and Node the certificates; what is wrong with them is said here, at start, and not at the first heartbeat.
 */
import { PREFIX } from './options/option.ts';
import type { ConfigProblem } from './problem.ts';
import { withoutCredentials } from './types/value-types.ts';
import type { Environment } from './values.ts';

export const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'] as const;
const PROXY_PROTOCOLS = new Set(['http:', 'https:', 'socks5:']);
const CERTIFICATES = 'NODE_EXTRA_CA_CERTS';

export function networkProblems(
  environment: Environment,
  readFile: (path: string) => string,
): ConfigProblem[] {
  return [
    ...ignoredProxyProblems(environment),
    ...PROXY_VARIABLES.flatMap((variable) => proxyProblem(variable, environment[variable])),
    ...certificateProblem(environment[CERTIFICATES], readFile),
  ];
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/** `what` goes with each request, and whoever is on the way reads it. Nothing on this machine is on the way. */
export function plainHttpProblems(variable: string, address: unknown, what: string): ConfigProblem[] {
  if (typeof address !== 'string' || !address.startsWith('http:')) return [];
  if (LOOPBACK.test(new URL(address).hostname)) return [];
  return [
    {
      severity: 'warning',
      variable: PREFIX + variable,
      got: withoutCredentials(address),
      allowed: 'https://…',
      message: `${what} leaves this machine unencrypted`,
    },
  ];
}

/** What other programs understand, and this one's HTTP client does not: it would be ignored without a word. */
function ignoredProxyProblems(environment: Environment): ConfigProblem[] {
  const problem = (variable: string, got: string, allowed: string, message: string): ConfigProblem => ({
    severity: 'warning',
    variable,
    got,
    allowed,
    message,
  });
  const all = ['ALL_PROXY', 'all_proxy']
    .filter((name) => environment[name])
    .map((name) => problem(name, 'a value', 'HTTPS_PROXY or HTTP_PROXY', 'it is not read'));
  const ranges = ['NO_PROXY', 'no_proxy'].flatMap((name) =>
    (environment[name] ?? '')
      .split(/[\s,]+/)
      .filter((entry) => entry.includes('/') || /.\*/.test(entry))
      .map((entry) =>
        problem(
          name,
          entry,
          'names, *.names and addresses, each with or without a port',
          'it matches nothing',
        ),
      ),
  );
  return [...all, ...ranges];
}

function proxyProblem(variable: string, value: string | undefined): ConfigProblem[] {
  if (!value || (URL.canParse(value) && PROXY_PROTOCOLS.has(new URL(value).protocol))) return [];
  return [
    {
      severity: 'error',
      variable,
      // It may have a password in it.
      got: value.includes('@') ? 'an address with a user in it' : value,
      allowed: 'the address of a proxy, such as http://proxy.example.com:3128',
      message: 'the service would not be reached; unset it to go without a proxy',
    },
  ];
}

function certificateProblem(path: string | undefined, readFile: (path: string) => string): ConfigProblem[] {
  if (!path) return [];
  const problem = {
    // Node has gone on without it already, and the file may be there at the next start.
    severity: 'warning',
    variable: CERTIFICATES,
    got: path,
    allowed: 'a readable file of PEM certificates',
  } as const;
  try {
    if (readFile(path).includes('-----BEGIN CERTIFICATE-----')) return [];
    return [{ ...problem, message: 'there is no certificate in it' }];
  } catch (error) {
    return [{ ...problem, message: (error as Error).message }];
  }
}
