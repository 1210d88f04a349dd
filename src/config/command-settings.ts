import { placed, withEnvFile, loadValues, type Environment } from './values.ts';
import { readText } from './files.ts';
import { OPTIONS, PREFIX, type Option, type Settings, type ValuesOf } from './options.ts';
import { networkProblems } from './other-variables.ts';
import { configError, describeProblem, isError, type ConfigProblem } from './problem.ts';
import type { AdminAddress, ListenAddress } from './addresses.ts';

export interface Connection extends Pick<Settings, 'baseUrl'> {
  readonly apiKey?: string;
  readonly serverlessUrl?: string;
}

export interface LoadedConnection {
  readonly connection: Connection | undefined;
  readonly addresses: Partial<Omit<Connection, 'apiKey'>>;
  readonly hasKey: boolean;
  readonly problems: readonly ConfigProblem[];
}

const { required: _, ...OPTIONAL_KEY } = OPTIONS.apiKey;

/** A stored key, and the only addresses that it is sent to. */
export type Login = Readonly<Connection> & { readonly apiKey: string };

interface ConnectionNeeds {
  /** False for a call without a key (§5.8). A malformed key is an error all the same. Default: true. */
  readonly needsKey?: boolean;
  readonly login?: Login | undefined;
}

export function loadConnection(
  environment: Environment = process.env,
  { needsKey = true, login }: ConnectionNeeds = {},
): LoadedConnection {
  const effective = withEnvFile(environment, readText);
  const { apiKey, baseUrl, serverlessUrl } = OPTIONS;
  const options = { apiKey: needsKey ? apiKey : OPTIONAL_KEY, baseUrl, serverlessUrl };
  const stored = hasKeyVariable(effective.environment) ? undefined : login;
  const filled = stored ? withLogin(effective.environment, stored) : effective.environment;
  const loaded = loadValues(options, filled, readText);
  const found = [
    ...loaded.problems,
    ...(stored ? otherAddresses(stored, loaded.values) : []),
    ...networkProblems(environment, readText),
  ];
  const problems = [...effective.problems, ...placed(found, effective)];
  const connection = loaded.values as Partial<Connection>;
  const { apiKey: key, ...addresses } = connection;
  return {
    connection: problems.some(isError) ? undefined : (connection as Connection),
    addresses,
    hasKey: key !== undefined,
    problems,
  };
}

/** The way to the service with another key, and with addresses in place of those of the environment. */
export function loadLogin(
  login: { readonly apiKey: string; readonly baseUrl?: string; readonly serverlessUrl?: string },
  environment: Environment = process.env,
): LoadedConnection {
  // A serverless address belongs to its main address.
  const given = ADDRESSES.filter((key) => login.baseUrl !== undefined || login[key] !== undefined);
  const replaced = (['apiKey', ...given] as const).flatMap((key) => {
    const name = PREFIX + OPTIONS[key].variable;
    return [[name, login[key]] as const, [`${name}_FILE`, undefined] as const];
  });
  return loadConnection({
    ...withFile(environment),
    [`${PREFIX}ENV_FILE`]: undefined,
    ...Object.fromEntries(replaced),
  });
}

const KEY_VARIABLE = PREFIX + OPTIONS.apiKey.variable;

function hasKeyVariable(environment: Environment): boolean {
  return [KEY_VARIABLE, `${KEY_VARIABLE}_FILE`].some((name) => environment[name]);
}

export function hasOwnKey(environment: Environment = process.env): boolean {
  return hasKeyVariable(withFile(environment));
}

const ADDRESSES = ['baseUrl', 'serverlessUrl'] as const;

/** With its addresses where the environment has none. */
export function withLogin(environment: Environment, login: Login): Environment {
  const missing = ADDRESSES.flatMap((key) => {
    const name = PREFIX + OPTIONS[key].variable;
    return environment[name] || environment[`${name}_FILE`] ? [] : [[name, login[key]] as const];
  });
  return { ...environment, ...Object.fromEntries(missing), [KEY_VARIABLE]: login.apiKey };
}

/** A stored key goes to no address but its own. */
function otherAddresses(login: Login, values: Partial<Record<string, unknown>>): ConfigProblem[] {
  return ADDRESSES.flatMap((key) => {
    const [allowed, got] = [login[key] ?? login.baseUrl, values[key]];
    if (typeof got !== 'string' || got === allowed) return [];
    const why = `the stored key goes to no other address; set ${KEY_VARIABLE} too, or log in there`;
    return [configError(PREFIX + OPTIONS[key].variable, got, allowed, why)];
  });
}

const { fallback: __, ...ENDPOINT_GROUPS } = OPTIONS.endpointGroups;
export const ENDPOINT_GROUPS_VARIABLE = PREFIX + ENDPOINT_GROUPS.variable;

export function loadEndpointGroups(environment: Environment = process.env): {
  readonly groups: readonly unknown[] | undefined;
  readonly problems: readonly ConfigProblem[];
} {
  const { values, problems } = effectiveValues({ groups: ENDPOINT_GROUPS }, environment);
  return { groups: values.groups, problems: problems.filter(isError) };
}

/** The address of the daemon with this environment, or of its admin routes; or why there is none. */
export function localUrl(
  key: 'listen' | 'adminListen',
  environment: Environment = process.env,
): { readonly url: string } | { readonly problem: string } {
  const { values, problems } = effectiveValues({ address: OPTIONS[key] }, environment);
  const address: AdminAddress | undefined = values.address;
  const lines = problems.map((problem) => describeProblem(problem).replace(/^error: /, ''));
  if (address === undefined) return { problem: lines.join('\n') };
  return { url: 'path' in address ? `unix:${address.path}` : urlOf(address) };
}

/** The token that metrics and status ask for; undefined if it is not set or cannot be read. */
export function localToken(environment: Environment = process.env): string | undefined {
  return effectiveValues({ token: OPTIONS.metricsToken }, environment).values.token;
}

function effectiveValues<Rows extends Readonly<Record<string, Option>>>(
  options: Rows,
  environment: Environment,
) {
  const { values, problems } = loadValues(options, withFile(environment), readText);
  return { values: values as Partial<ValuesOf<Rows>>, problems };
}

function withFile(environment: Environment): Environment {
  return withEnvFile(environment, readText).environment;
}

const ANYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

function urlOf({ host, port }: ListenAddress): string {
  const reachable = ANYWHERE.has(host) ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
