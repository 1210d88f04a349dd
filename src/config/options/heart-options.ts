/**
 * The variables that the heart reads, the process that sends the heartbeats. A malformed value of one that says what to
 * keep alive, and where, ends it (exit 2): a wrong guess would keep the wrong deployments alive, or none. Any other
 * malformed value falls back to its default, and is shown for as long as it lasts.
 */
import { appAddress } from '../types/app-address.ts';
import { deploymentList } from '../types/deployment-list.ts';
import { LOG_LEVELS } from '../types/log-levels.ts';
import type { Option, ValuesOf } from './option.ts';
import {
  apiKey,
  boolean,
  duration,
  durationFrom,
  durationOrAuto,
  durationUpTo,
  oneOf,
  oneOfAlso,
  path,
  serviceUrl,
  withoutCredentials,
} from '../types/value-types.ts';

export const HEART_OPTIONS = {
  apiKey: {
    variable: 'API_KEY',
    type: apiKey,
    fallback: undefined,
    required: true,
    secret: true,
    doc: 'API key of the service; as API_KEY_FILE it is read again when the file changes and when the service refuses it',
  },
  baseUrl: {
    variable: 'BASE_URL',
    type: serviceUrl,
    fallback: undefined,
    required: true,
    restart: true,
    doc: 'main address of the service',
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
    fallback: undefined,
    shown: withoutCredentials,
    doc: 'keep the deployments alive only while this app is well: http:// or https:// that answers 2xx within 2 s, or tcp://host:port that takes a connection; asked every 5 s, directly',
  },
  appGrace: {
    variable: 'APP_GRACE',
    type: durationFrom('5s'),
    fallback: '10m',
    doc: 'how long the app of APP_HEALTH may not be well; then no heartbeat is sent, the TTL ends the deployments, and one is sent at once when it is well again',
  },
  envFile: {
    variable: 'ENV_FILE',
    type: path,
    fallback: undefined,
    noFile: true,
    doc: 'file of NAME=value lines that win over the environment and are read again at a reload; only given in the environment',
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    type: oneOfAlso({ warning: 'warn', err: 'error', critical: 'fatal' }, ...LOG_LEVELS),
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
} as const satisfies Record<string, Option>;

export type HeartOptionKey = keyof typeof HEART_OPTIONS;
export type HeartSettings = ValuesOf<typeof HEART_OPTIONS>;
