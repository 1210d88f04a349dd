/**
 * THE table of environment variables: name, type, default and documentation of each. Configuration, its error
 * messages, `/-/config`, the README's table and the demo all read it. Names are fixed: see the README.
 */
import { isSchedule } from '../watch/job.ts';
import { LOG_LEVELS } from './log-levels.ts';
import { endpointGroupList } from './endpoint-groups.ts';
import { deploymentList } from './deployment-list.ts';
import { headerList } from './header-list.ts';
import {
  boolean,
  byteSize,
  count,
  duration,
  durationOrAuto,
  idList,
  listOf,
  listenAddress,
  oneOf,
  path,
  redisUrl,
  text,
  unique,
  url,
  type ValueType,
} from './value-types.ts';

export interface Option<T = unknown> {
  /** Without the prefix. */
  readonly variable: string;
  readonly type: ValueType<T>;
  /** As a user would write it; undefined: no default. */
  readonly fallback: string | undefined;
  readonly required?: true;
  /** Never shown anywhere. */
  readonly secret?: true;
  /** A reload cannot change it; the process must restart. */
  readonly restart?: true;
  readonly doc: string;
}

export const PREFIX = 'PILOTLIGHT_';

/** As the watches run when nobody says otherwise. */
const SCHEDULES = { maintenance: '*/5 * * * *', instances: '* * * * *', account: '*/15 * * * *' };
/** Not checked at each start: the first heartbeat waits for that, and node-cron's first check takes 1.5 ms. */
const FINE: ReadonlySet<string> = new Set(['off', ...Object.values(SCHEDULES)]);

const schedule: ValueType<string> = {
  name: 'cron expression or off',
  parse: (value) =>
    FINE.has(value) || isSchedule(value)
      ? { value, problems: [] }
      : {
          value: undefined,
          problems: [{ at: '', got: value, allowed: 'off, or a cron expression such as */5 * * * *' }],
        },
};

export const OPTIONS = {
  apiKey: {
    variable: 'API_KEY',
    type: text,
    fallback: undefined,
    required: true,
    secret: true,
    doc: 'API key of the service; as API_KEY_FILE it is read again when the file changes and when the service refuses it',
  },
  baseUrl: {
    variable: 'BASE_URL',
    type: url,
    fallback: undefined,
    required: true,
    restart: true,
    doc: 'main address of the service',
  },
  serverlessUrl: {
    variable: 'SERVERLESS_URL',
    type: url,
    fallback: undefined,
    restart: true,
    doc: 'address of the serverless request service; BASE_URL when not set',
  },
  deployments: {
    variable: 'DEPLOYMENTS',
    type: deploymentList,
    fallback: '',
    doc: 'deployments to keep alive, each with its TTL where you know it: 42@300s,name:square,name:square/blue@5m; a name without a tag is every deployment of that name',
  },
  deploymentTtl: {
    variable: 'DEPLOYMENT_TTL',
    type: duration,
    fallback: undefined,
    doc: 'TTL of deployments without their own; else the service is asked, else a heartbeat goes out every 20 s',
  },
  heartbeatInterval: {
    variable: 'HEARTBEAT_INTERVAL',
    type: durationOrAuto,
    fallback: 'auto',
    doc: 'time between heartbeats; auto takes a fifth of the TTL, at most 60 s',
  },
  workerGroups: {
    variable: 'WORKER_GROUPS',
    type: idList,
    fallback: '',
    doc: 'worker groups whose logs to follow',
  },
  logSinks: {
    variable: 'LOG_SINKS',
    type: unique(listOf('list of stdout, file, otlp', oneOf('stdout', 'file', 'otlp')), (sink) => sink),
    fallback: 'stdout',
    restart: true,
    doc: 'where worker-group lines go, each sink at its own speed',
  },
  logFile: {
    variable: 'LOG_FILE',
    type: path,
    fallback: undefined,
    restart: true,
    doc: 'file of the file sink; rotated ones lie beside it as LOG_FILE.1.gz, .2.gz, …, the highest number the newest',
  },
  logFileMaxBytes: {
    variable: 'LOG_FILE_MAX_BYTES',
    type: byteSize,
    fallback: '64MiB',
    restart: true,
    doc: 'size at which the file is rotated',
  },
  logFileMaxFiles: {
    variable: 'LOG_FILE_MAX_FILES',
    type: count,
    fallback: '10',
    restart: true,
    doc: 'rotated files to keep',
  },
  otlpEndpoint: {
    variable: 'OTLP_ENDPOINT',
    type: url,
    fallback: undefined,
    restart: true,
    doc: 'OTLP/HTTP receiver of the otlp sink, such as http://collector:4318; /v1/logs is added when it is not there',
  },
  otlpHeaders: {
    variable: 'OTLP_HEADERS',
    type: headerList,
    fallback: undefined,
    secret: true,
    restart: true,
    doc: 'headers that the OTLP/HTTP receiver asks for, such as authorization=Bearer%20abc; values percent-encoded',
  },
  logStart: {
    variable: 'LOG_START',
    type: oneOf('all', 'end'),
    fallback: 'all',
    doc: 'what of a log to deliver when a group is first seen: everything the service still has, or only what comes',
  },
  stateDir: {
    variable: 'STATE_DIR',
    type: path,
    fallback: undefined,
    restart: true,
    doc: 'folder for the log spool; without it a restart may repeat or lose log lines',
  },
  endpointGroups: {
    variable: 'ENDPOINT_GROUPS',
    type: endpointGroupList,
    fallback: '[]',
    doc: 'JSON array of endpoint-group parameter objects to check',
  },
  machines: {
    variable: 'MACHINES',
    type: idList,
    fallback: '',
    doc: 'machines whose maintenance windows to watch',
  },
  maintenanceSchedule: {
    variable: 'MAINTENANCE_SCHEDULE',
    type: schedule,
    fallback: SCHEDULES.maintenance,
    doc: 'when to look for maintenance windows',
  },
  instancesSchedule: {
    variable: 'INSTANCES_SCHEDULE',
    type: schedule,
    fallback: SCHEDULES.instances,
    doc: 'when to look at instance states',
  },
  accountSchedule: {
    variable: 'ACCOUNT_SCHEDULE',
    type: schedule,
    fallback: SCHEDULES.account,
    doc: 'when to look at two-factor authentication and backup codes',
  },
  redisUrl: {
    variable: 'REDIS_URL',
    type: redisUrl,
    fallback: undefined,
    secret: true,
    restart: true,
    doc: 'Redis of several replicas: one at a time follows the logs and runs the watches, all send heartbeats; the spool is there and not in STATE_DIR',
  },
  listen: {
    variable: 'LISTEN',
    type: listenAddress,
    fallback: '0.0.0.0:9847',
    restart: true,
    doc: 'metrics, probes and status page; port 0 picks a free one, said at start',
  },
  adminListen: {
    variable: 'ADMIN_LISTEN',
    type: listenAddress,
    fallback: '127.0.0.1:9848',
    restart: true,
    doc: 'reload, quit, log level, configuration; loopback addresses only',
  },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    type: text,
    fallback: undefined,
    secret: true,
    doc: 'Bearer token that /metrics asks for; open without it',
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    type: oneOf(...LOG_LEVELS),
    fallback: 'info',
    doc: "least severe of the daemon's own messages on stderr",
  },
  logFormat: {
    variable: 'LOG_FORMAT',
    type: oneOf('json', 'text'),
    fallback: 'json',
    restart: true,
    doc: "format of the daemon's own messages",
  },
  shutdownTimeout: {
    variable: 'SHUTDOWN_TIMEOUT',
    type: duration,
    fallback: '10s',
    doc: 'longest time from SIGTERM to the end of the process',
  },
  finalHeartbeat: {
    variable: 'FINAL_HEARTBEAT',
    type: boolean,
    fallback: 'true',
    doc: 'send one last heartbeat at shutdown, so that a restart has the whole TTL',
  },
} as const satisfies Record<string, Option>;

export type OptionKey = keyof typeof OPTIONS;
export const OPTION_KEYS = Object.keys(OPTIONS) as OptionKey[];

type SecretKey = { [K in OptionKey]: (typeof OPTIONS)[K] extends { secret: true } ? K : never }[OptionKey];
export const SECRET_KEYS = OPTION_KEYS.filter((key) => 'secret' in OPTIONS[key]) as SecretKey[];

type ValueOf<O> = O extends { readonly type: ValueType<infer T> } ? T : never;
/** Options that are required or have a default always have a value. */
type Present<O> = O extends { readonly required: true }
  ? ValueOf<O>
  : O extends { readonly fallback: string }
    ? ValueOf<O>
    : ValueOf<O> | undefined;

/** Every option's value. Frozen; secrets are in it, so it is never logged as it is. */
export type Settings = { readonly [K in OptionKey]: Present<(typeof OPTIONS)[K]> };
export type Secrets = Partial<Pick<Settings, SecretKey>>;
