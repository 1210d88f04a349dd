/** THE table of environment variables. The heart loads it first, so it imports no package. */
import type { CheckedGroup } from '../scaling/rules/check.ts';
import * as address from './addresses.ts';
import * as value from './value-types.ts';

export const PREFIX = 'PILOTLIGHT_';

/** What a malformed value of the daemon's variables switches off. */
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
  readonly type: value.ValueType<T>;
  /** As a user would write it; absent: no default. */
  readonly fallback?: string;
  /** What follows without a value, if there is no default. */
  readonly unset?: string;
  readonly doc: string;
  /** Off while the value is malformed. The daemon reads such variables, the heart all others. */
  readonly feature?: Feature;
  /** The value while the feature is off, if that is not the default. */
  readonly off?: string | undefined;
  readonly required?: true;
  /** No heartbeat is sent while the value is malformed: a default would keep the wrong ones alive. */
  readonly essential?: true;
  readonly secret?: true;
  /** How a value is shown that may hold credentials. */
  readonly shown?: (value: string) => string;
  readonly noFile?: true;
  readonly restart?: true;
}

/** load.ts checks the expression with a package that the heart does not load. */
export const uncheckedSchedule = value.valueType(
  'cron expression or off',
  'a cron expression or off',
  (text) => text,
);

/** The variable of `logFile` is LOG_FILE. */
const ROWS = {
  apiKey: {
    type: address.apiKey,
    required: true,
    essential: true,
    secret: true,
    doc: 'API key of the service; as API_KEY_FILE it is read again when the file changes and when the service refuses it',
  },
  baseUrl: {
    type: address.serviceUrl,
    required: true,
    essential: true,
    restart: true,
    doc: 'main address of the service',
  },
  deployments: {
    type: value.deploymentList,
    fallback: '',
    essential: true,
    doc: 'deployments to keep alive, each with its TTL if you know it: 42@300s,name:square,name:square/blue@5m; a name without a tag means every deployment of that name',
  },
  deploymentTtl: {
    type: value.duration,
    unset: 'the service is asked, or else a heartbeat is sent every 20 s',
    doc: 'TTL of deployments without their own; without it the service is asked, or else a heartbeat is sent every 20 s',
  },
  heartbeatInterval: {
    type: value.durationOrAuto,
    fallback: 'auto',
    doc: 'time between heartbeats; auto takes a fifth of the TTL, at most 60 s',
  },
  shutdownTimeout: {
    type: value.durationUpTo('24h'),
    fallback: '10s',
    doc: 'longest time from SIGTERM to the end of the process',
  },
  finalHeartbeat: {
    type: value.boolean,
    fallback: 'true',
    doc: 'send one last heartbeat at shutdown, so that a restart has the whole TTL',
  },
  appHealth: {
    type: address.appAddress,
    unset: 'the deployments are kept alive whatever happens to the app',
    shown: address.withoutCredentials,
    doc: 'keep the deployments alive only while this app is healthy: http:// or https:// that answers 2xx within 2 s, or tcp://host:port that accepts a connection; checked every 5 s, without a proxy',
  },
  appGrace: {
    type: value.durationFrom('5s'),
    fallback: '10m',
    doc: 'how long the app of APP_HEALTH may be unhealthy; after that heartbeats stop, the TTL ends the deployments, and heartbeats resume as soon as the app is healthy',
  },
  envFile: {
    type: value.path,
    noFile: true,
    doc: 'file of NAME=value lines that win over the environment and are read again at a reload; can be set in the environment only',
  },
  logLevel: {
    type: value.oneOf(value.LOG_LEVELS, { warning: 'warn', err: 'error', critical: 'fatal' }),
    fallback: 'info',
    doc: "least severe of the daemon's own messages on stderr",
  },
  logFormat: {
    type: value.oneOf(['auto', 'json', 'text']),
    fallback: 'auto',
    restart: true,
    doc: "format of the daemon's own messages; auto: text at a terminal, JSON elsewhere",
  },
  serverlessUrl: {
    feature: 'logs',
    type: address.url,
    restart: true,
    doc: 'address of the serverless request service; BASE_URL when not set',
  },
  workerGroups: {
    feature: 'logs',
    off: '',
    type: value.groupList,
    fallback: '',
    doc: 'worker groups whose logs to follow: by id, all of an endpoint, or all; names are looked up every minute',
  },
  endpointLogs: {
    feature: 'logs',
    off: '',
    type: value.endpointList,
    fallback: '',
    doc: 'endpoints whose own logs to follow (what the engine decides and why): by id, by name, or all; looked up every minute',
  },
  logSinks: {
    feature: 'logs',
    type: value.listOf(value.oneOf(['stdout', 'file', 'otlp'])),
    fallback: 'stdout',
    restart: true,
    doc: 'where log lines go, each sink at its own speed',
  },
  logFile: {
    feature: 'fileSink',
    type: value.path,
    restart: true,
    doc: 'file of the file sink; rotated files lie beside it as LOG_FILE.1.gz, .2.gz, …, the highest number the newest',
  },
  logFileMaxBytes: {
    feature: 'fileSink',
    type: value.byteSize,
    fallback: '64MiB',
    restart: true,
    doc: 'size at which the file is rotated',
  },
  logFileMaxFiles: {
    feature: 'fileSink',
    type: value.count,
    fallback: '10',
    restart: true,
    doc: 'rotated files to keep',
  },
  otlpEndpoint: {
    feature: 'otlpSink',
    type: address.url,
    restart: true,
    doc: 'OTLP/HTTP receiver of the otlp sink, such as http://collector:4318; /v1/logs is added if it is missing',
  },
  otlpHeaders: {
    feature: 'otlpSink',
    type: address.headerList,
    secret: true,
    restart: true,
    doc: 'headers that the OTLP/HTTP receiver asks for, such as authorization=Bearer%20abc; values percent-encoded',
  },
  logStart: {
    feature: 'logs',
    type: value.oneOf(['all', 'end']),
    restart: true,
    fallback: 'all',
    doc: 'which lines to deliver when a log is first seen: all that the service still has, or only those that come after',
  },
  followLevels: {
    feature: 'logs',
    type: value.listOf(value.oneOf(['info0', 'info1', 'trace', 'debug'])),
    restart: true,
    fallback: '',
    doc: 'levels to follow if the service answers with one log for each; empty for all that it answers with',
  },
  logAnsi: {
    feature: 'logs',
    type: value.oneOf(['keep', 'strip']),
    fallback: 'keep',
    restart: true,
    doc: 'keep colours and other terminal commands in the lines of the file and OTLP sinks, or strip them; stdout always has them',
  },
  stateDir: {
    feature: 'logs',
    type: value.path,
    restart: true,
    doc: 'folder for the log spool, the history of endpoints, and what was learned of the service; without it a restart may repeat or lose log lines, and forgets the rest',
  },
  endpointGroups: {
    feature: 'endpointGroups',
    type: value.jsonArray,
    fallback: '[]',
    doc: 'JSON array of endpoint-group parameter objects to check, and to compare with what the service has',
  },
  endpoints: {
    feature: 'fleet',
    off: '',
    type: value.endpointList,
    fallback: '',
    doc: 'endpoints whose workers, load and cost to watch: by id, by name, or all',
  },
  fleetInterval: {
    feature: 'fleet',
    type: value.durationFrom('5s'),
    fallback: '15s',
    doc: 'time between two polls of the workers of an endpoint',
  },
  budgetPerHour: {
    feature: 'budget',
    type: value.amount,
    doc: 'what all watched endpoints together may cost an hour, in the currency of their prices; an alert',
  },
  budgetPerMonth: {
    feature: 'budget',
    type: value.amount,
    doc: 'what all watched endpoints together may cost in a calendar month (UTC); an alert, also if the forecast is above it',
  },
  machines: {
    feature: 'maintenance',
    off: '',
    type: value.idList,
    fallback: '',
    doc: 'machines whose maintenance windows to watch',
  },
  maintenanceSchedule: {
    feature: 'maintenance',
    off: 'off',
    type: uncheckedSchedule,
    fallback: '*/5 * * * *',
    doc: 'when to look for maintenance windows',
  },
  instancesSchedule: {
    feature: 'instances',
    off: 'off',
    type: uncheckedSchedule,
    fallback: '* * * * *',
    doc: 'when to look at instance states',
  },
  accountSchedule: {
    feature: 'account',
    off: 'off',
    type: uncheckedSchedule,
    fallback: '*/15 * * * *',
    doc: 'when to look at two-factor authentication and backup codes',
  },
  redisUrl: {
    feature: 'replicas',
    off: undefined,
    type: address.redisUrl,
    secret: true,
    restart: true,
    doc: 'Redis of several replicas: all send heartbeats, one at a time follows the logs, watches endpoints and runs the other watches',
  },
  redisPrefix: {
    feature: 'replicas',
    type: address.redisPrefix,
    fallback: 'pilotlight',
    restart: true,
    doc: 'prefix of all keys in Redis: give each fleet its own if its replicas should know nothing of the others',
  },
  listen: {
    feature: 'listener',
    off: undefined,
    type: address.listenAddress,
    fallback: '0.0.0.0:9847',
    restart: true,
    doc: 'metrics, probes and status page; port 0 picks a free one, which the first log line names',
  },
  adminListen: {
    feature: 'adminListener',
    off: undefined,
    type: address.adminAddress,
    fallback: '127.0.0.1:9848',
    restart: true,
    doc: 'reload, quit, log level, configuration; loopback addresses only, or a socket file for programs of this user alone: unix:/run/pilotlight/admin.sock',
  },
  metricsToken: {
    feature: 'metrics',
    type: address.token,
    secret: true,
    doc: 'Bearer token that metrics, page, status and fleet ask for, all of LISTEN except the probes; open without it',
  },
  publicStatus: {
    feature: 'publicStatus',
    type: value.boolean,
    fallback: 'false',
    doc: 'show the last log lines on page and status without a METRICS_TOKEN too',
  },
} as const satisfies Record<string, Omit<Option, 'variable'>>;

export const OPTIONS = Object.fromEntries(
  Object.entries(ROWS).map(([key, row]) => {
    const variable = key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    return [key, { variable, ...row }];
  }),
) as { readonly [Key in keyof typeof ROWS]: (typeof ROWS)[Key] & { readonly variable: string } };

type Table = typeof OPTIONS;
export type OptionKey = keyof Table;
export const OPTION_KEYS = Object.keys(OPTIONS) as OptionKey[];

type KeyWith<Flag> = { [K in OptionKey]: Table[K] extends Flag ? K : never }[OptionKey];
export type DaemonKey = KeyWith<{ feature: Feature }>;
export type HeartKey = Exclude<OptionKey, DaemonKey>;
type SecretKey = KeyWith<{ secret: true }>;

function rowsOf<Key extends OptionKey>(isWanted: (option: Option) => boolean): Pick<Table, Key> {
  const rows = Object.entries<Option>(OPTIONS).filter(([, option]) => isWanted(option));
  return Object.fromEntries(rows) as unknown as Pick<Table, Key>;
}
export const HEART_OPTIONS = rowsOf<HeartKey>(({ feature }) => feature === undefined);
export const DAEMON_OPTIONS = rowsOf<DaemonKey>(({ feature }) => feature !== undefined);
export const SECRET_KEYS = OPTION_KEYS.filter((key) => 'secret' in OPTIONS[key]) as SecretKey[];

type ValueOf<O> = O extends { readonly type: value.ValueType<infer T> } ? T : never;
type Present<O> = O extends { readonly required: true } | { readonly fallback: string }
  ? ValueOf<O>
  : ValueOf<O> | undefined;
export type ValuesOf<Rows> = { readonly [Key in keyof Rows]: Present<Rows[Key]> };

export type HeartSettings = ValuesOf<Pick<Table, HeartKey>>;
type DaemonValues = ValuesOf<Pick<Table, DaemonKey>>;
/** Endpoint groups are checked, and a listener that is off has no address. */
export type DaemonSettings = Omit<DaemonValues, 'endpointGroups' | 'listen' | 'adminListen'> & {
  readonly endpointGroups: readonly CheckedGroup[];
  readonly listen: DaemonValues['listen'] | undefined;
  readonly adminListen: DaemonValues['adminListen'] | undefined;
};
/** Frozen. It contains secrets, so it is never logged. */
export type Settings = HeartSettings & DaemonSettings;
export type Secrets = Partial<Pick<Settings, SecretKey>>;

export function valueOf({ type }: Option, text: string | undefined): unknown {
  return text === undefined ? undefined : type.parse(text).value;
}
