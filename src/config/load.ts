import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { checkEndpointGroups, type CheckedGroup } from '../scaling/rules/check.ts';
import { gotInWords } from '../scaling/rules/rules.ts';
import { isSchedule } from '../watch/job.ts';
import { exposedSecrets, placed, withEnvFile, loadValues, type Environment } from './values.ts';
import { overFiles, readText, type ReadFile } from './files.ts';
import { loadHeartFrom } from './load-heart.ts';
import {
  DAEMON_OPTIONS,
  PREFIX,
  SECRET_KEYS,
  type DaemonKey,
  type DaemonSettings,
  type Feature,
  type Option,
  type OptionKey,
  uncheckedSchedule,
  type Secrets,
  type Settings,
  valueOf,
} from './options.ts';
import { plainHttpProblems } from './other-variables.ts';
import { configError, type ConfigProblem } from './problem.ts';
import { credentialHeaders } from './secrets.ts';
import { valueType, type ValueProblem, type ValueType } from './value-types.ts';

export interface LoadedConfig {
  /** Undefined if the heart has none. A feature that is off has the values that switch it off. */
  readonly settings: Settings | undefined;
  readonly secrets: Secrets;
  readonly problems: readonly ConfigProblem[];
  /** What the daemon reports: problems of its variables, unknown names, defaults that were used. */
  readonly daemonProblems: readonly ConfigProblem[];
  readonly files: ReadonlyMap<OptionKey, string>;
  readonly off: readonly Feature[];
  readonly isBeingWritten: boolean;
}

const schedule = valueType(
  uncheckedSchedule.name,
  'off, or a cron expression of at most 100 characters that matches at least one date, such as */5 * * * *',
  (text) => {
    if (text.toLowerCase() === 'off') return 'off';
    return isSchedule(text) ? text : undefined;
  },
);

/** The rules only advise: a finding is a problem, and switches nothing off. */
const endpointGroupList: ValueType<readonly CheckedGroup[]> = {
  name: DAEMON_OPTIONS.endpointGroups.type.name,
  parse(text) {
    const { value: groups, problems: unreadable } = DAEMON_OPTIONS.endpointGroups.type.parse(text);
    if (groups === undefined) return { value: undefined, problems: unreadable };
    const checked = checkEndpointGroups(groups);
    return { value: checked, problems: checked.flatMap(findingsOf) };
  },
};

function findingsOf({ findings }: CheckedGroup, index: number): ValueProblem[] {
  return findings.map((finding) => {
    const { rule, parameter, allowed, message, severity } = finding;
    const at = parameter === '' ? `[${index}]` : `[${index}].${parameter}`;
    return { rule, at, got: gotInWords(finding), allowed, message, severity };
  });
}

const CHECKED = new Map<ValueType<unknown>, ValueType<unknown>>([
  [uncheckedSchedule, schedule],
  [DAEMON_OPTIONS.endpointGroups.type, endpointGroupList],
]);
const CHECKED_OPTIONS = Object.fromEntries(
  Object.entries<Option>(DAEMON_OPTIONS).map(([key, option]) => [
    key,
    { ...option, type: CHECKED.get(option.type) ?? option.type },
  ]),
) as Readonly<Record<DaemonKey, Option>>;
const DAEMON_KEYS = Object.keys(CHECKED_OPTIONS) as DaemonKey[];

export function loadConfig(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): LoadedConfig {
  const effective = withEnvFile(environment, readFile);
  const heart = loadHeartFrom(effective, readFile);
  const daemon = loadValues(CHECKED_OPTIONS, effective.environment, readFile);
  const values = daemon.values as Partial<DaemonSettings>;
  const cross = [...sinkProblems(values, daemon.broken), ...listenerProblems(values)];
  const off = new Set([
    ...Array.from(daemon.broken, (key) => DAEMON_OPTIONS[key].feature),
    ...cross.map(({ feature }) => feature),
  ]);
  const known: Partial<Settings> = { ...heart.settings, ...values };
  const found = [
    ...daemon.problems,
    ...cross.map(({ problem }) => problem),
    ...plainHttpProblems(DAEMON_OPTIONS.serverlessUrl.variable, values.serverlessUrl, 'the API key'),
    ...otlpCredentialProblems(values),
  ];
  // The environment file may set what is missing, and replace the secrets of the environment.
  const secrets = effective.awaits ? [] : SECRET_KEYS.filter((key) => known[key]);
  const daemonProblems = effective.awaits
    ? []
    : [...heart.tolerated, ...placed(found, effective), ...exposedSecrets(CHECKED_OPTIONS, effective)];
  return {
    settings: heart.settings && Object.freeze({ ...heart.settings, ...switchOff(values, off) }),
    secrets: Object.fromEntries(secrets.map((key) => [key, known[key]])),
    problems: [...heart.problems, ...daemonProblems],
    daemonProblems,
    files: new Map<OptionKey, string>([...heart.files, ...daemon.files]),
    off: [...off],
    isBeingWritten: effective.awaits === 'its end',
  };
}

const WRITTEN_FOR_MS = 1_000;
const MOST_LOOKS = 5;

/** The same, without blocking this process. */
export async function loadConfigSlowly(environment: Environment = process.env): Promise<LoadedConfig> {
  for (let looks = 1; ; looks += 1) {
    const loaded = await overFiles((readFile) => loadConfig(environment, readFile));
    if (!loaded.isBeingWritten || looks === MOST_LOOKS) return loaded;
    await delay(WRITTEN_FOR_MS);
  }
}

type LogSinks = DaemonSettings['logSinks'];
/** The work that one replica does for all. */
const SHARED: readonly Feature[] = ['logs', 'fleet', 'maintenance', 'instances', 'account'];

/** Off means that nothing is lost, repeated or opened by a guess. */
function switchOff(values: Partial<DaemonSettings>, broken: ReadonlySet<Feature>): DaemonSettings {
  const off = new Set([...broken, ...(broken.has('replicas') ? SHARED : [])]);
  const isOff = (feature?: Feature): boolean => feature !== undefined && off.has(feature);
  const sinks =
    values.logSinks ?? (valueOf(CHECKED_OPTIONS.logSinks, CHECKED_OPTIONS.logSinks.fallback) as LogSinks);
  const logSinks = sinks.filter((sink) => sink === 'stdout' || !isOff(`${sink}Sink`));
  // Log lines would go nowhere.
  if (logSinks.length === 0) off.add('logs');
  const complete = DAEMON_KEYS.map((key) => {
    const option = CHECKED_OPTIONS[key];
    if ('off' in option && isOff(option.feature)) return [key, valueOf(option, option.off)];
    return [key, values[key] ?? valueOf(option, option.fallback)];
  });
  // An unknown token keeps closed what the configured one should close.
  const closed = isOff('metrics') && { metricsToken: randomUUID() };
  return { ...Object.fromEntries(complete), logSinks, ...closed };
}

interface FeatureProblem {
  readonly feature: Feature;
  readonly problem: ConfigProblem;
}

/** A listed sink needs its address; a malformed one has its own problem already. */
function sinkProblems(
  { logSinks = [], logFile, otlpEndpoint }: Partial<DaemonSettings>,
  broken: ReadonlySet<DaemonKey>,
): FeatureProblem[] {
  const needs = [
    ['file', 'logFile', logFile],
    ['otlp', 'otlpEndpoint', otlpEndpoint],
  ] as const;
  return needs
    .filter(([sink, key, value]) => logSinks.includes(sink) && value === undefined && !broken.has(key))
    .map(([sink, key]) => {
      const { variable, type, feature } = DAEMON_OPTIONS[key];
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
  const { variable, feature } = DAEMON_OPTIONS.adminListen;
  const problem = (got: string, allowed: string, message: string): FeatureProblem => ({
    feature,
    problem: configError(PREFIX + variable, got, allowed, message),
  });
  if (!adminListen || 'path' in adminListen) return [];
  const found: FeatureProblem[] = [];
  if (!LOOPBACK.has(adminListen.host)) {
    const why = 'the admin routes have no authentication, so they never leave the machine';
    found.push(problem(adminListen.host, '127.0.0.1, ::1 or localhost, or unix:PATH', why));
  }
  if (listen && listen.port !== 0 && listen.port === adminListen.port)
    found.push(problem(String(adminListen.port), 'a port of its own', `${PREFIX}LISTEN has the same port`));
  return found;
}
