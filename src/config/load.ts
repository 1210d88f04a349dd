/**
 * Environment → settings, all problems at once. Reads the files of X_FILE variables; everything else is pure.
 * With local-daemon.ts the only place in the project where the environment is looked at.
 */
import { readFileSync } from 'node:fs';
import { nearestName } from '../contract/nearest-name.ts';
import { labelOf } from '../heartbeat/discovery/wanted.ts';
import { checkTiming } from '../heartbeat/timing-check.ts';
import { parseGroupArray } from './endpoint-groups.ts';
import { networkProblems } from './network.ts';
import {
  OPTIONS,
  OPTION_KEYS,
  PREFIX,
  SECRET_KEYS,
  type Option,
  type OptionKey,
  type Secrets,
  type Settings,
} from './options.ts';

/** One thing wrong with the configuration. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning' | 'note';
  /** Variable and place in it: `PILOTLIGHT_ENDPOINT_GROUPS[0].target_util`. */
  readonly variable: string;
  /** What it got; `a secret` for secrets; undefined when it is missing. */
  readonly got: string | undefined;
  readonly allowed: string;
  readonly message: string | undefined;
  /** Stable id of the rule that it breaks, for endpoint-group parameters. */
  readonly rule?: string;
}

export interface LoadedConfig {
  /** Undefined when any problem is an error. */
  readonly settings: Settings | undefined;
  /** Those secrets that are there and valid, whatever is wrong with the rest. */
  readonly secrets: Secrets;
  readonly problems: readonly ConfigProblem[];
  /** Options whose value came from a file, with its path: these can change while the process runs. */
  readonly files: ReadonlyMap<OptionKey, string>;
}

export type Environment = Readonly<Record<string, string | undefined>>;
type ReadFile = (path: string) => string;

export function loadConfig(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): LoadedConfig {
  const { values, files, problems } = loadValues(OPTION_KEYS, environment, readFile);
  // A variable that could not be read has its own problem: that it is missing would be said of it wrongly.
  const missingToo = sinkProblems(values as Partial<Settings>).filter(
    ({ variable }) => !problems.some((problem) => problem.variable === variable),
  );
  const all = [
    ...unknownVariables(environment),
    ...problems,
    ...missingToo,
    ...crossChecks(values),
    ...networkProblems(environment, readFile),
  ];
  const settings = isBroken(all) ? undefined : Object.freeze(values as Settings);
  const secrets: Secrets = Object.fromEntries(
    SECRET_KEYS.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
  );
  return { settings, secrets, problems: all, files };
}

const CONNECTION_KEYS = ['apiKey', 'baseUrl', 'serverlessUrl'] as const satisfies readonly OptionKey[];
type Connection = Pick<Settings, 'apiKey' | 'baseUrl'> & { readonly serverlessUrl?: string };

export interface LoadedConnection {
  /** Undefined when any problem is an error. */
  readonly connection: Connection | undefined;
  /** What is known of them all the same, for commands that only show a request. */
  readonly addresses: Partial<Omit<Connection, 'apiKey'>>;
  readonly problems: readonly ConfigProblem[];
}

/** Only what it takes to reach the service, for commands that make one call. */
export function loadConnection(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): LoadedConnection {
  const { values, problems: own } = loadValues(CONNECTION_KEYS, environment, readFile);
  const problems = [...own, ...networkProblems(environment, readFile)];
  const { apiKey: _, ...addresses } = values as Partial<Connection>;
  return { connection: isBroken(problems) ? undefined : (values as Connection), addresses, problems };
}

export const ENDPOINT_GROUPS_VARIABLE = PREFIX + OPTIONS.endpointGroups.variable;

/** The endpoint groups as they are written, for commands that need nothing else; undefined where none are set. */
export function loadEndpointGroups(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): { readonly groups: readonly unknown[] | undefined; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const text = rawValue(OPTIONS.endpointGroups, environment, readFile, problems)?.text;
  if (text === undefined) return { groups: undefined, problems };
  const groups = parseGroupArray(text);
  if (typeof groups !== 'string') return { groups, problems };
  return { groups: undefined, problems: [error(ENDPOINT_GROUPS_VARIABLE, text, 'a JSON array', groups)] };
}

function isBroken(problems: readonly ConfigProblem[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

interface LoadedValues {
  readonly values: Partial<Record<OptionKey, unknown>>;
  readonly files: Map<OptionKey, string>;
  readonly problems: ConfigProblem[];
}

function loadValues(keys: readonly OptionKey[], environment: Environment, readFile: ReadFile): LoadedValues {
  const problems: ConfigProblem[] = [];
  const files = new Map<OptionKey, string>();
  const values: Partial<Record<OptionKey, unknown>> = {};
  for (const key of keys) {
    const option: Option = OPTIONS[key];
    const raw = rawValue(option, environment, readFile, problems);
    if (raw?.file !== undefined) files.set(key, raw.file);
    const text = raw?.text ?? option.fallback;
    if (text === undefined) {
      if (option.required && !raw) problems.push(missing(option));
      continue;
    }
    const parsed = option.type.parse(text);
    if (parsed.value !== undefined) values[key] = parsed.value;
    for (const { at, got, allowed, message, rule, severity = 'error' } of parsed.problems) {
      problems.push({
        severity,
        variable: PREFIX + option.variable + at,
        got: option.secret ? 'a secret' : got,
        allowed,
        message,
        ...(rule === undefined ? {} : { rule }),
      });
    }
  }
  return { values, files, problems };
}

interface RawValue {
  /** Undefined when the file could not be read, which is a problem of its own. */
  readonly text: string | undefined;
  readonly file?: string;
}

/** The text of a variable: its own, or the content of the file that X_FILE names. */
function rawValue(
  { variable, doc }: Option,
  environment: Environment,
  readFile: ReadFile,
  problems: ConfigProblem[],
): RawValue | undefined {
  const name = PREFIX + variable;
  // An empty variable counts as not set: compose files and manifests pass them on that way.
  const own = environment[name] || undefined;
  const file = environment[`${name}_FILE`] || undefined;
  if (file === undefined) return own === undefined ? undefined : { text: own };
  if (own !== undefined) {
    problems.push(
      error(name, 'a value, and a file too', `${name} or ${name}_FILE`, 'both are set; keep one'),
    );
    return { text: undefined };
  }
  try {
    return { text: readFile(file).trim(), file };
  } catch (cause) {
    problems.push(
      error(`${name}_FILE`, file, 'the path of a readable file', (cause as Error).message || doc),
    );
    return { text: undefined, file };
  }
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}

function unknownVariables(environment: Environment): ConfigProblem[] {
  const known = OPTION_KEYS.flatMap((key) => {
    const name = PREFIX + OPTIONS[key].variable;
    return [name, `${name}_FILE`];
  });
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      const message = nearest ? `no such variable; did you mean ${nearest}?` : 'no such variable';
      return error(name, 'a value', 'a known variable: see pilotlight run --help', message);
    });
}

function missing({ variable, doc, type }: Option): ConfigProblem {
  return error(PREFIX + variable, undefined, type.name, `required: ${doc}`);
}

function error(variable: string, got: string | undefined, allowed: string, message: string): ConfigProblem {
  return { severity: 'error', variable, got, allowed, message };
}

/** Problems that no variable has alone. */
function crossChecks(values: Partial<Record<OptionKey, unknown>>): ConfigProblem[] {
  const { adminListen, listen } = values as Partial<Settings>;
  const problems = timingProblems(values as Partial<Settings>);
  if (adminListen && !['127.0.0.1', '::1', 'localhost'].includes(adminListen.host)) {
    problems.push(
      error(
        `${PREFIX}ADMIN_LISTEN`,
        adminListen.host,
        '127.0.0.1, ::1 or localhost',
        'the admin routes have no authentication, so they never leave the machine',
      ),
    );
  }
  if (listen && adminListen && listen.port !== 0 && listen.port === adminListen.port) {
    problems.push(
      error(
        `${PREFIX}ADMIN_LISTEN`,
        String(adminListen.port),
        'a port of its own',
        'LISTEN has the same port',
      ),
    );
  }
  return problems;
}

/** A sink that is listed needs to be told where to. */
function sinkProblems({ logSinks = [], logFile, otlpEndpoint }: Partial<Settings>): ConfigProblem[] {
  const needs = [
    ['file', OPTIONS.logFile, logFile],
    ['otlp', OPTIONS.otlpEndpoint, otlpEndpoint],
  ] as const;
  return needs
    .filter(([sink, , value]) => logSinks.includes(sink) && value === undefined)
    .map(([sink, { variable, type }]) =>
      error(PREFIX + variable, undefined, type.name, `required: ${PREFIX}LOG_SINKS lists ${sink}`),
    );
}

/** Refuses TTLs and intervals with which one failed heartbeat may already be the last. */
function timingProblems({
  deployments = [],
  deploymentTtl,
  heartbeatInterval,
}: Partial<Settings>): ConfigProblem[] {
  if (heartbeatInterval === undefined) return [];
  return deployments.flatMap((wanted) => {
    const problem = checkTiming({ ttl: wanted.ttlMs ?? deploymentTtl, interval: heartbeatInterval });
    if (!problem) return [];
    const { change, got, atLeast, atMost, message } = problem;
    const limit = atLeast === undefined ? `at most ${(atMost ?? 0) / 1000}s` : `at least ${atLeast / 1000}s`;
    const variable = change === 'interval' ? 'HEARTBEAT_INTERVAL' : 'DEPLOYMENTS';
    return [error(PREFIX + variable, `${got / 1000}s for deployment ${labelOf(wanted)}`, limit, message)];
  });
}
