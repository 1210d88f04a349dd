/** All that the heart says. A message is a static sentence; its facts are fields. Read it aloud, as one list. */
import type { LogLevel } from '../../../config/types/value-types.ts';
import type { FindingType } from '../../discovery/findings.ts';
import type { HeartbeatState } from '../../engine/state.ts';

export interface Message {
  readonly level: LogLevel;
  readonly text: string;
  /** About one subject it is logged once in this time, ms. */
  readonly everyMs?: number | undefined;
  /** It happens to many deployments at once: `suppressed` in the next line counts those that were not logged. */
  readonly isCounted?: boolean;
}

const RARELY = 10_000;
const MINUTE = 60_000;
const TEN_MINUTES = 10 * MINUTE;

const debug = (text: string): Message => ({ level: 'debug', text });
const info = (text: string, everyMs?: number): Message => ({ level: 'info', text, everyMs });
const warn = (text: string, everyMs?: number): Message => ({ level: 'warn', text, everyMs });
const warnRarely = (text: string): Message => ({ ...warn(text, RARELY), isCounted: true });
const error = (text: string, everyMs?: number): Message => ({ level: 'error', text, everyMs });
const fatal = (text: string): Message => ({ level: 'fatal', text });

/** Before there is a log, on standard error. */
export const BEFORE_THE_LOG = {
  waiting: 'pilotlight: waiting for these files; nothing is kept alive until they can be read',
  notStarted: 'pilotlight: not started; fix the environment (pilotlight run --help lists it)',
} as const;

export const MESSAGES = {
  configError: error('configuration problem'),
  configWarning: warn('configuration problem'),
  ignoredVariables: info('ignored variables that Kubernetes sets for a Service'),
  overriddenVariables: info('variables of PILOTLIGHT_ENV_FILE override the environment'),
  systemdFailed: warn('could not tell systemd the state of this service'),
  reloaded: info('heartbeats reloaded'),
  reloadRefused: error('reload refused: the configuration is invalid; the old one stays in force'),

  keyUnreadable: warn('could not read the API key again; keeping the old one', TEN_MINUTES),
  keyMissing: error('could not read the API key; no heartbeat is sent until its file can be read', MINUTE),

  failed: debug('heartbeat failed'),
  failing: error('heartbeats are failing'),
  stateChanged: info('heartbeat state changed'),
  replaced: info('the deployment was redeployed; heartbeats go to its new id'),
  sentEarly: warnRarely('heartbeat sent before the rate limit allows it, to save the deployment'),
  clockStep: warnRarely('the clock jumped: it was set, or the machine was suspended'),
  sharedLimit: info('the deployments of this key take turns under its rate limit'),
  tooMany: error('too many deployments for the rate limit of this key; some will expire', MINUTE),
  addressFailed: warn('an address of the service failed; using the others', TEN_MINUTES),
  addressWorks: info('an address of the service works again'),

  appUnhealthy: warn('the app is unhealthy; heartbeats go on within PILOTLIGHT_APP_GRACE', MINUTE),
  appHealthy: info('the app is healthy again', MINUTE),
  withheld: error(
    'the app was unhealthy for PILOTLIGHT_APP_GRACE: heartbeats are withheld, and the deployments will expire',
    MINUTE,
  ),
  resumed: warn('heartbeats resumed'),
  resumedLate: warn('heartbeats resumed late; these deployments may have expired'),

  daemonEnded: error('the daemon ended and is restarted; heartbeats go on'),
  daemonKilled: error('the daemon did not stop in time and was killed; log lines may be missing'),
  unexpected: fatal('unexpected error; please report it'),
  lastNotAccepted: warn('the last heartbeats of some deployments were not accepted'),
  ended: info('heartbeats ended'),
} as const;

export const DISCOVERY: Readonly<Record<FindingType, Message>> = {
  matched: info('found the deployments of a name'),
  unmatched: warn('no deployment has this name; asking again'),
  stopped: warn('the deployment is stopped, so it is not kept alive'),
  'no-list': warn('the service has no list of deployments, so this name cannot be found'),
  unanswered: warn('the service did not tell names and TTLs; asking again'),
  'ttl-differs': warn("the configured TTL differs from the service's; using the shorter one"),
  'ttl-too-short': warn('the TTL is too short to survive one failed heartbeat'),
  'interval-too-long': warn(
    'PILOTLIGHT_HEARTBEAT_INTERVAL is too long for this TTL; using the automatic interval',
  ),
};

/** The level of a change to a state; a change to any other state is information. */
export const STATE_LEVELS: Readonly<Partial<Record<HeartbeatState, LogLevel>>> = {
  retrying: 'warn',
  throttled: 'warn',
  'suspect-gone': 'warn',
  urgent: 'error',
  unauthorized: 'error',
  lapsed: 'error',
  gone: 'error',
};

/** What to do, if somebody has to. */
export const STATE_ADVICE: Readonly<Partial<Record<HeartbeatState, string>>> = {
  urgent: 'heartbeats fail and the TTL is running out; check that the service is reachable from here',
  unauthorized:
    'put a valid API key with the permission instance_write into PILOTLIGHT_API_KEY, or into the file of PILOTLIGHT_API_KEY_FILE',
  lapsed: 'the TTL has passed without an accepted heartbeat; the deployment has probably expired',
  gone: 'the service does not know this deployment; heartbeats go on, every 30 s once its TTL has passed',
};
export const LIMIT_ADVICE = 'use a longer TTL, fewer deployments for this key, or a second key';
