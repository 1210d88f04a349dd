/** Environment → all settings, all problems at once: what the heart reads, and what the daemon reads. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  DAEMON_OPTIONS,
  type DaemonOptionKey,
  type DaemonSettings,
  type Feature,
} from './options/daemon-options.ts';
import { credentialHeaders } from './credentials.ts';
import { parseGroupArray } from './types/endpoint-groups.ts';
import { switchOff } from './options/features.ts';
import { HEART_OPTIONS } from './options/heart-options.ts';
import { exposedSecrets, placed, withEnvFile } from './env-file/effective.ts';
import { loadHeartFrom } from './load-heart.ts';
import { networkProblems, plainHttpProblems } from './network.ts';
import {
  OPTIONS,
  PREFIX,
  SECRET_KEYS,
  type Option,
  type OptionKey,
  type Secrets,
  type Settings,
} from './options/options.ts';
import { configError, isError, type ConfigProblem } from './problem.ts';
import { overFiles } from './slow-files.ts';
import { loadValues, readRaw, readText, type Environment, type ReadFile } from './values.ts';

export interface LoadedConfig {
  /** Undefined where the heart has none. A feature of the daemon that is off has the values that switch it off. */
  readonly settings: Settings | undefined;
  /** Those secrets that are there and valid, whatever is wrong with the rest. */
  readonly secrets: Secrets;
  readonly problems: readonly ConfigProblem[];
  /** Those among them that concern the daemon alone, and unknown names, which it reports. */
  readonly daemonProblems: readonly ConfigProblem[];
  /** Options whose value came from a file, with its path: these can change while the process runs. */
  readonly files: ReadonlyMap<OptionKey, string>;
  /** What is off because a variable of the daemon has an error. */
  readonly off: readonly Feature[];
  /** The environment file may still be being written, and counts as one that cannot be read. */
  readonly isBeingWritten: boolean;
}

export function loadConfig(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
  mayWait = true,
): LoadedConfig {
  const effective = withEnvFile(environment, readFile, mayWait);
  const heart = loadHeartFrom(effective, readFile);
  const daemon = loadValues(DAEMON_OPTIONS, effective.environment, readFile);
  const values = daemon.values as DaemonSettings;
  const cross = [...sinkProblems(values, daemon.broken), ...listenerProblems(values)];
  const off = new Set([
    ...Array.from(daemon.broken, (key) => DAEMON_OPTIONS[key].feature),
    ...cross.map(({ feature }) => feature),
  ]);
  const settings =
    heart.settings && Object.freeze({ ...heart.settings, ...switchOff(withDefaults(daemon.values), off) });
  const known: Partial<Record<OptionKey, unknown>> = { ...heart.settings, ...daemon.values };
  // Of the environment alone they may be those that the file is there to replace.
  const secrets: Secrets = Object.fromEntries(
    effective.isAwaited ? [] : SECRET_KEYS.flatMap((key) => (known[key] ? [[key, known[key]]] : [])),
  );
  const found = [
    ...daemon.problems,
    ...cross.map(({ problem }) => problem),
    ...plainHttpProblems(DAEMON_OPTIONS.serverlessUrl.variable, values.serverlessUrl, 'the API key'),
    ...otlpCredentialProblems(values),
  ];
  // What the file says may be what is missing.
  const daemonProblems = effective.isAwaited
    ? []
    : [...heart.tolerated, ...placed(found, effective), ...exposedSecrets(DAEMON_OPTIONS, effective)];
  return {
    settings,
    secrets,
    problems: [...heart.problems, ...daemonProblems],
    daemonProblems,
    files: new Map<OptionKey, string>([...heart.files, ...daemon.files]),
    off: [...off],
    isBeingWritten: effective.isBeingWritten ?? false,
  };
}

/** Between two looks at an environment file that somebody writes, ms, and how many there are. */
const WRITTEN_FOR_MS = 1_000;
const MOST_LOOKS = 5;

/** The same, however long its files take, and holding up nothing meanwhile. */
export async function loadConfigSlowly(environment: Environment = process.env): Promise<LoadedConfig> {
  for (let looks = 1; ; looks += 1) {
    const loaded = await overFiles((readFile) => loadConfig(environment, readFile, false));
    if (!loaded.isBeingWritten || looks === MOST_LOOKS) return loaded;
    await delay(WRITTEN_FOR_MS);
  }
}

/** A broken option has its default, beside the feature that is off for it. */
function withDefaults(values: Partial<Record<DaemonOptionKey, unknown>>): DaemonSettings {
  const complete: Partial<Record<DaemonOptionKey, unknown>> = {};
  for (const key of Object.keys(DAEMON_OPTIONS) as DaemonOptionKey[]) {
    const { fallback, type }: Option = DAEMON_OPTIONS[key];
    complete[key] = values[key] ?? (fallback === undefined ? undefined : type.parse(fallback).value);
  }
  return complete as DaemonSettings;
}

const CONNECTION_TABLE = {
  apiKey: HEART_OPTIONS.apiKey,
  baseUrl: HEART_OPTIONS.baseUrl,
  serverlessUrl: DAEMON_OPTIONS.serverlessUrl,
} as const;
type Connection = Pick<Settings, 'apiKey' | 'baseUrl'> & { readonly serverlessUrl?: string };
/** For what the secret of a login is enough for: with a key only where there is one. */
type KeylessConnection = Omit<Connection, 'apiKey'> & { readonly apiKey?: string };

const { required: _, ...OPTIONAL_KEY } = HEART_OPTIONS.apiKey;
const KEYLESS_TABLE = { ...CONNECTION_TABLE, apiKey: OPTIONAL_KEY } as const;

export interface LoadedConnection<Of = Connection> {
  /** Undefined when any problem is an error. */
  readonly connection: Of | undefined;
  /** What is known of them nevertheless, for commands that only show a request. */
  readonly addresses: Partial<Omit<Connection, 'apiKey'>>;
  readonly hasKey: boolean;
  readonly problems: readonly ConfigProblem[];
}

/** Only what it takes to reach the service, for commands that make one call. */
export function loadConnection(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): LoadedConnection {
  return loadTable(CONNECTION_TABLE, environment, readFile) as LoadedConnection;
}

/** The same for a call that needs no key (§5.8). A key that is there, and malformed, is an error all the same. */
export function loadKeylessConnection(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): LoadedConnection<KeylessConnection> {
  return loadTable(KEYLESS_TABLE, environment, readFile);
}

function loadTable(
  table: Readonly<Record<keyof Connection, Option>>,
  environment: Environment,
  readFile: ReadFile,
): LoadedConnection<KeylessConnection> {
  const effective = withEnvFile(environment, readFile);
  const { values, problems: own } = loadValues(table, effective.environment, readFile);
  const found = [...own, ...networkProblems(environment, readFile)];
  const problems = [...effective.problems, ...placed(found, effective)];
  const { apiKey, ...addresses } = values as Partial<Connection>;
  const broken = problems.some((problem) => isError(problem));
  return {
    connection: broken ? undefined : (values as KeylessConnection),
    addresses,
    hasKey: apiKey !== undefined,
    problems,
  };
}

export const ENDPOINT_GROUPS_VARIABLE = PREFIX + OPTIONS.endpointGroups.variable;

/** The endpoint groups, unchecked, for commands that need nothing else; undefined where none are set. */
export function loadEndpointGroups(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): { readonly groups: readonly unknown[] | undefined; readonly problems: readonly ConfigProblem[] } {
  const { environment: effective } = withEnvFile(environment, readFile);
  const { text, problem } = readRaw(OPTIONS.endpointGroups, effective, readFile);
  if (text === undefined) return { groups: undefined, problems: problem ? [problem] : [] };
  const groups = parseGroupArray(text);
  if (typeof groups !== 'string') return { groups, problems: [] };
  return {
    groups: undefined,
    problems: [configError(ENDPOINT_GROUPS_VARIABLE, text, 'a JSON array', groups)],
  };
}

interface FeatureProblem {
  readonly feature: Feature;
  readonly problem: ConfigProblem;
}

/** A sink that is listed needs to be told where to; a variable that is broken has its own problem already. */
function sinkProblems(
  { logSinks = [], logFile, otlpEndpoint }: Partial<DaemonSettings>,
  broken: ReadonlySet<DaemonOptionKey>,
): FeatureProblem[] {
  const needs = [
    ['file', 'logFile', 'fileSink', logFile],
    ['otlp', 'otlpEndpoint', 'otlpSink', otlpEndpoint],
  ] as const;
  return needs
    .filter(([sink, key, , value]) => logSinks.includes(sink) && value === undefined && !broken.has(key))
    .map(([sink, key, feature]) => {
      const { variable, type } = DAEMON_OPTIONS[key];
      const message = `required: ${PREFIX}LOG_SINKS lists ${sink}`;
      return { feature, problem: configError(PREFIX + variable, undefined, type.name, message) };
    });
}

function otlpCredentialProblems({
  logSinks = [],
  otlpEndpoint,
  otlpHeaders = {},
}: Partial<DaemonSettings>): ConfigProblem[] {
  const [[name] = []] = credentialHeaders(otlpHeaders);
  if (name === undefined || !logSinks.includes('otlp')) return [];
  return plainHttpProblems(DAEMON_OPTIONS.otlpEndpoint.variable, otlpEndpoint, `the header ${name}`);
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

function listenerProblems({ adminListen, listen }: Partial<DaemonSettings>): FeatureProblem[] {
  const problem = (got: string, allowed: string, message: string): FeatureProblem => ({
    feature: 'adminListener',
    problem: configError(`${PREFIX}ADMIN_LISTEN`, got, allowed, message),
  });
  if (!adminListen || 'path' in adminListen) return [];
  const found: FeatureProblem[] = [];
  if (!LOOPBACK.has(adminListen.host)) {
    const why = 'the admin routes have no authentication, so they never leave the machine';
    found.push(problem(adminListen.host, '127.0.0.1, ::1 or localhost, or unix:PATH', why));
  }
  if (listen && listen.port !== 0 && listen.port === adminListen.port)
    found.push(problem(String(adminListen.port), 'a port of its own', 'LISTEN has the same port'));
  return found;
}
