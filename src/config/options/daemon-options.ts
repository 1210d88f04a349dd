/**
 * The variables that only the daemon reads, the process of all but the heartbeats. A malformed value of one of them
 * switches off the feature that it is for (features.ts), with an error in the log, and nothing else.
 */
import { isSchedule } from '../../watch/schedule.ts';
import { adminAddress } from '../types/admin-address.ts';
import type { DaemonVariable } from './daemon-variables.ts';
import { endpointGroupList } from '../types/endpoint-groups.ts';
import { headerList } from '../types/header-list.ts';
import { endpointList } from '../types/endpoint-list.ts';
import type { Option, ValuesOf } from './option.ts';
import { groupList } from '../types/group-list.ts';
import { redisPrefix, redisUrl } from '../types/redis.ts';
import {
  amount,
  boolean,
  byteSize,
  count,
  durationFrom,
  idList,
  listOf,
  listenAddress,
  oneOf,
  path,
  token,
  unique,
  url,
  type ValueType,
} from '../types/value-types.ts';

/** What a malformed value switches off; features.ts says how. */
export type Feature =
  | 'logs'
  | 'fileSink'
  | 'otlpSink'
  | 'endpointGroups'
  | 'fleet'
  | 'budget'
  | 'maintenance'
  | 'instances'
  | 'account'
  | 'replicas'
  | 'listener'
  | 'adminListener'
  | 'metrics'
  | 'publicStatus';

/** One row. `variable` is listed in daemon-variables.ts, which the heart reads instead of this table. */
interface DaemonOption extends Option {
  readonly variable: DaemonVariable;
  /** What is off while the value is malformed. */
  readonly feature: Feature;
}

/** Default schedules of the watches. */
const SCHEDULES = {
  maintenance: '*/5 * * * *',
  instances: '* * * * *',
  account: '*/15 * * * *',
};
const schedule: ValueType<string> = {
  name: 'cron expression or off',
  parse: (value) =>
    value === 'off' || isSchedule(value)
      ? { value, problems: [] }
      : {
          value: undefined,
          problems: [
            {
              at: '',
              got: value,
              allowed:
                'off, or a cron expression of at most 100 characters that comes round, such as */5 * * * *',
            },
          ],
        },
};

export const DAEMON_OPTIONS = {
  serverlessUrl: {
    variable: 'SERVERLESS_URL',
    feature: 'logs',
    type: url,
    fallback: undefined,
    restart: true,
    doc: 'address of the serverless request service; BASE_URL when not set',
  },
  workerGroups: {
    variable: 'WORKER_GROUPS',
    feature: 'logs',
    type: groupList,
    fallback: '',
    doc: 'worker groups whose logs to follow: by id, all of an endpoint, or all; names are looked up every minute',
  },
  logSinks: {
    variable: 'LOG_SINKS',
    feature: 'logs',
    type: unique(listOf('list of stdout, file, otlp', oneOf('stdout', 'file', 'otlp')), (sink) => sink),
    fallback: 'stdout',
    restart: true,
    doc: 'where worker-group lines go, each sink at its own speed',
  },
  logFile: {
    variable: 'LOG_FILE',
    feature: 'fileSink',
    type: path,
    fallback: undefined,
    restart: true,
    doc: 'file of the file sink; rotated ones lie beside it as LOG_FILE.1.gz, .2.gz, …, the highest number the newest',
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
    fallback: undefined,
    restart: true,
    doc: 'OTLP/HTTP receiver of the otlp sink, such as http://collector:4318; /v1/logs is added when it is not there',
  },
  otlpHeaders: {
    variable: 'OTLP_HEADERS',
    feature: 'otlpSink',
    type: headerList,
    fallback: undefined,
    secret: true,
    restart: true,
    doc: 'headers that the OTLP/HTTP receiver asks for, such as authorization=Bearer%20abc; values percent-encoded',
  },
  logStart: {
    variable: 'LOG_START',
    feature: 'logs',
    type: oneOf('all', 'end'),
    fallback: 'all',
    doc: 'what of a log to deliver when a group is first seen: everything the service still has, or only what comes',
  },
  followLevels: {
    variable: 'FOLLOW_LEVELS',
    feature: 'logs',
    type: unique(
      listOf('list of info0, info1, trace, debug', oneOf('info0', 'info1', 'trace', 'debug')),
      (level) => level,
    ),
    fallback: '',
    doc: 'levels to follow if the service answers with one log for each; empty for all that it answers with',
  },
  stateDir: {
    variable: 'STATE_DIR',
    feature: 'logs',
    type: path,
    fallback: undefined,
    restart: true,
    doc: 'folder for the log spool and the history of endpoints; without it a restart may repeat or lose log lines, and forgets the history',
  },
  endpointGroups: {
    variable: 'ENDPOINT_GROUPS',
    feature: 'endpointGroups',
    type: endpointGroupList,
    fallback: '[]',
    doc: 'JSON array of endpoint-group parameter objects to check, and to compare with what the service has',
  },
  endpoints: {
    variable: 'ENDPOINTS',
    feature: 'fleet',
    type: endpointList,
    fallback: '',
    doc: 'endpoints whose workers, load and cost to watch: by id, by name, or all',
  },
  fleetInterval: {
    variable: 'FLEET_INTERVAL',
    feature: 'fleet',
    type: durationFrom('5s'),
    fallback: '15s',
    doc: 'time between two looks at the workers of an endpoint',
  },
  budgetPerHour: {
    variable: 'BUDGET_PER_HOUR',
    feature: 'budget',
    type: amount,
    fallback: undefined,
    doc: 'what the workers of all watched endpoints together may cost an hour, in the currency of their prices',
  },
  machines: {
    variable: 'MACHINES',
    feature: 'maintenance',
    type: idList,
    fallback: '',
    doc: 'machines whose maintenance windows to watch',
  },
  maintenanceSchedule: {
    variable: 'MAINTENANCE_SCHEDULE',
    feature: 'maintenance',
    type: schedule,
    fallback: SCHEDULES.maintenance,
    doc: 'when to look for maintenance windows',
  },
  instancesSchedule: {
    variable: 'INSTANCES_SCHEDULE',
    feature: 'instances',
    type: schedule,
    fallback: SCHEDULES.instances,
    doc: 'when to look at instance states',
  },
  accountSchedule: {
    variable: 'ACCOUNT_SCHEDULE',
    feature: 'account',
    type: schedule,
    fallback: SCHEDULES.account,
    doc: 'when to look at two-factor authentication and backup codes',
  },
  redisUrl: {
    variable: 'REDIS_URL',
    feature: 'replicas',
    type: redisUrl,
    fallback: undefined,
    secret: true,
    restart: true,
    doc: 'Redis of several replicas: one at a time follows the logs, watches endpoints and runs the other watches, all send heartbeats; the spool and the history of endpoints are there and not in STATE_DIR',
  },
  redisPrefix: {
    variable: 'REDIS_PREFIX',
    feature: 'replicas',
    type: redisPrefix,
    fallback: 'pilotlight',
    restart: true,
    doc: 'what the names of all keys in Redis begin with: another one for each fleet whose replicas should know nothing of each other',
  },
  listen: {
    variable: 'LISTEN',
    feature: 'listener',
    type: listenAddress,
    fallback: '0.0.0.0:9847',
    restart: true,
    doc: 'metrics, probes and status page; port 0 picks a free one, said at start',
  },
  adminListen: {
    variable: 'ADMIN_LISTEN',
    feature: 'adminListener',
    type: adminAddress,
    fallback: '127.0.0.1:9848',
    restart: true,
    doc: 'reload, quit, log level, configuration; loopback addresses only, or a socket file for programs of this user alone: unix:/run/pilotlight/admin.sock',
  },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    feature: 'metrics',
    type: token,
    fallback: undefined,
    secret: true,
    doc: 'Bearer token that metrics, page, status and fleet ask for, all of LISTEN but the probes; open without it',
  },
  publicStatus: {
    variable: 'PUBLIC_STATUS',
    feature: 'publicStatus',
    type: boolean,
    fallback: 'false',
    doc: 'show the last log lines on page and status without a METRICS_TOKEN too',
  },
} as const satisfies Record<string, DaemonOption>;

export type DaemonOptionKey = keyof typeof DAEMON_OPTIONS;
type Parsed = ValuesOf<typeof DAEMON_OPTIONS>;
/** As features.ts leaves them: without an address a listener is off. */
export type DaemonSettings = Omit<Parsed, 'listen' | 'adminListen'> & {
  readonly listen: Parsed['listen'] | undefined;
  readonly adminListen: Parsed['adminListen'] | undefined;
};
