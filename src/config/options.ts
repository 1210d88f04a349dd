/**
 * THE table of environment variables: name, type, default and documentation of each. The loaders, their messages,
 * `/-/config`, the help of `run`, the table of deploy/README.md and the schema of the Helm chart are derived from it.
 * The heart loads it before its first heartbeat, so it needs no package and no room of the daemon.
 */
import type { CheckedGroup } from '../scaling/rules/check.ts';
import {
  adminAddress,
  apiKey,
  appAddress,
  headerList,
  listenAddress,
  redisPrefix,
  redisUrl,
  serviceUrl,
  token,
  url,
  withoutCredentials,
} from './types/addresses.ts';
import {
  amount,
  boolean,
  byteSize,
  count,
  duration,
  durationFrom,
  durationOrAuto,
  durationUpTo,
  idList,
  jsonArray,
  listOf,
  LOG_LEVELS,
  oneOf,
  path,
  valueType,
  type ValueType,
} from './types/value-types.ts';
import { deploymentList, endpointList, groupList } from './types/wanted.ts';

export const PREFIX = 'PILOTLIGHT_';

/** What a malformed value of the daemon's variables switches off, and how a person reads of it. */
export const FEATURES = {
  logs: 'no log is followed',
  fileSink: 'the file sink is off',
  otlpSink: 'the OTLP sink is off',
  endpointGroups: 'no endpoint group is checked',
  fleet: 'no endpoint is watched',
  budget: 'the cost of endpoints is watched without a budget',
  maintenance: 'maintenance windows are not watched',
  instances: 'instances are not watched',
  account: 'the account is not watched',
  replicas: 'no log is followed and nothing is watched, because another replica may do it',
  listener: 'metrics, probes and status page are not served',
  adminListener: 'the admin routes are not served',
  metrics: 'metrics, page, status and fleet are closed',
  publicStatus: 'page and status show log lines only with a token',
} as const;
export type Feature = keyof typeof FEATURES;

export interface Option<T = unknown> {
  /** Without the prefix. */
  readonly variable: string;
  readonly type: ValueType<T>;
  /** As a user would write it; absent: no default. */
  readonly fallback?: string;
  /** What follows without a value, if there is no default. */
  readonly unset?: string;
  readonly doc: string;
  /** What is off while the value is malformed. Only the daemon reads such a variable; the heart reads all others. */
  readonly feature?: Feature;
  /** The value while its feature is off, if it is not what the user set or the default; undefined: none. */
  readonly off?: string | undefined;
  readonly required?: true;
  /** No heartbeat is sent while the value is malformed: with a default, the wrong deployments would be kept alive. */
  readonly essential?: true;
  /** Never shown anywhere. */
  readonly secret?: true;
  /** How a value is shown that may hold credentials. */
  readonly shown?: (value: string) => string;
  /** Cannot be given as NAME_FILE. */
  readonly noFile?: true;
  /** A reload cannot change it; the process must restart. */
  readonly restart?: true;
}

/** load.ts checks the expression, with a package that the heart does not load. */
const schedule = valueType('cron expression or off', 'a cron expression or off', (text) => text);

export const OPTIONS = {
  apiKey: {
    variable: 'API_KEY',
    type: apiKey,
    required: true,
    essential: true,
    secret: true,
    doc: 'API key of the service; as API_KEY_FILE it is read again when the file changes and when the service refuses it',
  },
  baseUrl: {
    variable: 'BASE_URL',
    type: serviceUrl,
    required: true,
    essential: true,
    restart: true,
    doc: 'main address of the service',
  },
  deployments: {
    variable: 'DEPLOYMENTS',
    type: deploymentList,
    fallback: '',
    essential: true,
    doc: 'deployments to keep alive, each with its TTL if you know it: 42@300s,name:square,name:square/blue@5m; a name without a tag means every deployment of that name',
  },
  deploymentTtl: {
    variable: 'DEPLOYMENT_TTL',
    type: duration,
    unset: 'the service is asked, or else a heartbeat is sent every 20 s',
    doc: 'TTL of deployments without their own; without it the service is asked, or else a heartbeat is sent every 20 s',
  },
  heartbeatInterval: {
    variable: 'HEARTBEAT_INTERVAL',
    type: durationOrAuto,
    fallback: 'auto',
    doc: 'time between heartbeats; auto takes a fifth of the TTL, at most 60 s',
  },
  shutdownTimeout: {
    variable: 'SHUTDOWN_TIMEOUT',
    type: durationUpTo('24h'),
    fallback: '10s',
    doc: 'longest time from SIGTERM to the end of the process',
  },
  finalHeartbeat: {
    variable: 'FINAL_HEARTBEAT',
    type: boolean,
    fallback: 'true',
    doc: 'send one last heartbeat at shutdown, so that a restart has the whole TTL',
  },
  appHealth: {
    variable: 'APP_HEALTH',
    type: appAddress,
    unset: 'the deployments are kept alive whatever happens to the app',
    shown: withoutCredentials,
    doc: 'keep the deployments alive only while this app is healthy: http:// or https:// that answers 2xx within 2 s, or tcp://host:port that accepts a connection; checked every 5 s, without a proxy',
  },
  appGrace: {
    variable: 'APP_GRACE',
    type: durationFrom('5s'),
    fallback: '10m',
    doc: 'how long the app of APP_HEALTH may be unhealthy; after that heartbeats stop, the TTL ends the deployments, and heartbeats resume as soon as the app is healthy',
  },
  envFile: {
    variable: 'ENV_FILE',
    type: path,
    noFile: true,
    doc: 'file of NAME=value lines that win over the environment and are read again at a reload; can be set in the environment only',
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    type: oneOf(LOG_LEVELS, { warning: 'warn', err: 'error', critical: 'fatal' }),
    fallback: 'info',
    doc: "least severe of the daemon's own messages on stderr",
  },
  logFormat: {
    variable: 'LOG_FORMAT',
    type: oneOf(['auto', 'json', 'text']),
    fallback: 'auto',
    restart: true,
    doc: "format of the daemon's own messages; auto: text at a terminal, JSON elsewhere",
  },
  serverlessUrl: {
    variable: 'SERVERLESS_URL',
    feature: 'logs',
    type: url,
    restart: true,
    doc: 'address of the serverless request service; BASE_URL when not set',
  },
  workerGroups: {
    variable: 'WORKER_GROUPS',
    feature: 'logs',
    off: '',
    type: groupList,
    fallback: '',
    doc: 'worker groups whose logs to follow: by id, all of an endpoint, or all; names are looked up every minute',
  },
  endpointLogs: {
    variable: 'ENDPOINT_LOGS',
    feature: 'logs',
    off: '',
    type: endpointList,
    fallback: '',
    doc: 'endpoints whose own logs to follow (what the engine decides and why): by id, by name, or all; looked up every minute',
  },
  logSinks: {
    variable: 'LOG_SINKS',
    feature: 'logs',
    type: listOf('list of stdout, file, otlp', oneOf(['stdout', 'file', 'otlp'])),
    fallback: 'stdout',
    restart: true,
    doc: 'where log lines go, each sink at its own speed',
  },
  logFile: {
    variable: 'LOG_FILE',
    feature: 'fileSink',
    type: path,
    restart: true,
    doc: 'file of the file sink; rotated files lie beside it as LOG_FILE.1.gz, .2.gz, …, the highest number the newest',
  },
  logFileMaxBytes: {
    variable: 'LOG_FILE_MAX_BYTES',
    feature: 'fileSink',
    type: byteSize,
    fallback: '64MiB',
    restart: true,
    doc: 'size at which the file is rotated',
  },
  logFileMaxFiles: {
    variable: 'LOG_FILE_MAX_FILES',
    feature: 'fileSink',
    type: count,
    fallback: '10',
    restart: true,
    doc: 'rotated files to keep',
  },
  otlpEndpoint: {
    variable: 'OTLP_ENDPOINT',
    feature: 'otlpSink',
    type: url,
    restart: true,
    doc: 'OTLP/HTTP receiver of the otlp sink, such as http://collector:4318; /v1/logs is added if it is missing',
  },
  otlpHeaders: {
    variable: 'OTLP_HEADERS',
    feature: 'otlpSink',
    type: headerList,
    secret: true,
    restart: true,
    doc: 'headers that the OTLP/HTTP receiver asks for, such as authorization=Bearer%20abc; values percent-encoded',
  },
  logStart: {
    variable: 'LOG_START',
    feature: 'logs',
    type: oneOf(['all', 'end']),
    restart: true,
    fallback: 'all',
    doc: 'which lines to deliver when a log is first seen: all that the service still has, or only those that come after',
  },
  followLevels: {
    variable: 'FOLLOW_LEVELS',
    feature: 'logs',
    type: listOf('list of info0, info1, trace, debug', oneOf(['info0', 'info1', 'trace', 'debug'])),
    restart: true,
    fallback: '',
    doc: 'levels to follow if the service answers with one log for each; empty for all that it answers with',
  },
  logAnsi: {
    variable: 'LOG_ANSI',
    feature: 'logs',
    type: oneOf(['keep', 'strip']),
    fallback: 'keep',
    restart: true,
    doc: 'keep colours and other terminal commands in the lines of the file and OTLP sinks, or strip them; stdout always has them',
  },
  stateDir: {
    variable: 'STATE_DIR',
    feature: 'logs',
    type: path,
    restart: true,
    doc: 'folder for the log spool, the history of endpoints, and what was learned of the service; without it a restart may repeat or lose log lines, and forgets the rest',
  },
  endpointGroups: {
    variable: 'ENDPOINT_GROUPS',
    feature: 'endpointGroups',
    type: jsonArray,
    fallback: '[]',
    doc: 'JSON array of endpoint-group parameter objects to check, and to compare with what the service has',
  },
  endpoints: {
    variable: 'ENDPOINTS',
    feature: 'fleet',
    off: '',
    type: endpointList,
    fallback: '',
    doc: 'endpoints whose workers, load and cost to watch: by id, by name, or all',
  },
  fleetInterval: {
    variable: 'FLEET_INTERVAL',
    feature: 'fleet',
    type: durationFrom('5s'),
    fallback: '15s',
    doc: 'time between two polls of the workers of an endpoint',
  },
  budgetPerHour: {
    variable: 'BUDGET_PER_HOUR',
    feature: 'budget',
    type: amount,
    doc: 'what all watched endpoints together may cost an hour, in the currency of their prices; an alert',
  },
  budgetPerMonth: {
    variable: 'BUDGET_PER_MONTH',
    feature: 'budget',
    type: amount,
    doc: 'what all watched endpoints together may cost in a calendar month (UTC); an alert, also if the forecast is above it',
  },
  machines: {
    variable: 'MACHINES',
    feature: 'maintenance',
    off: '',
    type: idList,
    fallback: '',
    doc: 'machines whose maintenance windows to watch',
  },
  maintenanceSchedule: {
    variable: 'MAINTENANCE_SCHEDULE',
    feature: 'maintenance',
    off: 'off',
    type: schedule,
    fallback: '*/5 * * * *',
    doc: 'when to look for maintenance windows',
  },
  instancesSchedule: {
    variable: 'INSTANCES_SCHEDULE',
    feature: 'instances',
    off: 'off',
    type: schedule,
    fallback: '* * * * *',
    doc: 'when to look at instance states',
  },
  accountSchedule: {
    variable: 'ACCOUNT_SCHEDULE',
    feature: 'account',
    off: 'off',
    type: schedule,
    fallback: '*/15 * * * *',
    doc: 'when to look at two-factor authentication and backup codes',
  },
  redisUrl: {
    variable: 'REDIS_URL',
    feature: 'replicas',
    off: undefined,
    type: redisUrl,
    secret: true,
    restart: true,
    doc: 'Redis of several replicas: all send heartbeats, one at a time follows the logs, watches endpoints and runs the other watches',
  },
  redisPrefix: {
    variable: 'REDIS_PREFIX',
    feature: 'replicas',
    type: redisPrefix,
    fallback: 'pilotlight',
    restart: true,
    doc: 'prefix of all keys in Redis: give each fleet its own if its replicas should know nothing of the others',
  },
  listen: {
    variable: 'LISTEN',
    feature: 'listener',
    off: undefined,
    type: listenAddress,
    fallback: '0.0.0.0:9847',
    restart: true,
    doc: 'metrics, probes and status page; port 0 picks a free one, which the first log line names',
  },
  adminListen: {
    variable: 'ADMIN_LISTEN',
    feature: 'adminListener',
    off: undefined,
    type: adminAddress,
    fallback: '127.0.0.1:9848',
    restart: true,
    doc: 'reload, quit, log level, configuration; loopback addresses only, or a socket file for programs of this user alone: unix:/run/pilotlight/admin.sock',
  },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    feature: 'metrics',
    type: token,
    secret: true,
    doc: 'Bearer token that metrics, page, status and fleet ask for, all of LISTEN except the probes; open without it',
  },
  publicStatus: {
    variable: 'PUBLIC_STATUS',
    feature: 'publicStatus',
    type: boolean,
    fallback: 'false',
    doc: 'show the last log lines on page and status without a METRICS_TOKEN too',
  },
} as const satisfies Record<string, Option>;

type Table = typeof OPTIONS;
export type OptionKey = keyof Table;
export const OPTION_KEYS = Object.keys(OPTIONS) as OptionKey[];

type KeyWith<Flag> = { [K in OptionKey]: Table[K] extends Flag ? K : never }[OptionKey];
export type DaemonKey = KeyWith<{ feature: Feature }>;
export type HeartKey = Exclude<OptionKey, DaemonKey>;
type SecretKey = KeyWith<{ secret: true }>;

/** Some rows of the table. */
function rowsOf<Key extends OptionKey>(isWanted: (option: Option) => boolean): Pick<Table, Key> {
  const rows = Object.entries<Option>(OPTIONS).filter(([, option]) => isWanted(option));
  return Object.fromEntries(rows) as unknown as Pick<Table, Key>;
}
export const HEART_OPTIONS = rowsOf<HeartKey>(({ feature }) => feature === undefined);
export const DAEMON_OPTIONS = rowsOf<DaemonKey>(({ feature }) => feature !== undefined);
export const SECRET_KEYS = OPTION_KEYS.filter((key) => 'secret' in OPTIONS[key]) as SecretKey[];

type ValueOf<O> = O extends { readonly type: ValueType<infer T> } ? T : never;
/** Options that are required or have a default always have a value. */
type Present<O> = O extends { readonly required: true } | { readonly fallback: string }
  ? ValueOf<O>
  : ValueOf<O> | undefined;
export type ValuesOf<Rows> = { readonly [Key in keyof Rows]: Present<Rows[Key]> };

export type HeartSettings = ValuesOf<Pick<Table, HeartKey>>;
type DaemonValues = ValuesOf<Pick<Table, DaemonKey>>;
/** As load.ts leaves them: endpoint groups are checked, and a listener that is off has no address. */
export type DaemonSettings = Omit<DaemonValues, 'endpointGroups' | 'listen' | 'adminListen'> & {
  readonly endpointGroups: readonly CheckedGroup[];
  readonly listen: DaemonValues['listen'] | undefined;
  readonly adminListen: DaemonValues['adminListen'] | undefined;
};
/** Every option's value. Frozen; secrets are in it, so it is never logged as it is. */
export type Settings = HeartSettings & DaemonSettings;
export type Secrets = Partial<Pick<Settings, SecretKey>>;

/** The value of a text that the table has, such as a default. */
export function valueOf({ type }: Option, text: string | undefined): unknown {
  return text === undefined ? undefined : type.parse(text).value;
}
