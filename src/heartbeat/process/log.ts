/**
 * The heart's log, as pino would write it, with all its messages, and a standard error that holds nothing up. This
 * process loads little.
 */
import { LOG_LEVELS, type LogLevel } from '../../config/value-types.ts';
import type { Redaction } from '../../contract/text/redaction.ts';
import type { FindingType } from '../discovery/wanted.ts';
import type { HeartbeatState } from '../engine/state.ts';
// oxlint-disable-next-line no-restricted-imports -- of this process' own descriptors, before the first heartbeat
import { constants, openSync, write } from 'node:fs';
import { isatty } from 'node:tty';

export type LogFields = Readonly<Record<string, unknown>>;
/** False: the message was logged too recently about the same subject. */
export type HeartLog = (message: Message, fields?: LogFields, subject?: string) => boolean;

export type MessageFormat = 'auto' | 'json' | 'text';

export function isText(format: MessageFormat, isTerminal = false): boolean {
  return format === 'text' || (format === 'auto' && isTerminal);
}

interface HeartLogOptions {
  readonly stderr: Pick<Stderr, 'write'> & { readonly isTerminal?: boolean };
  readonly level: () => LogLevel;
  readonly format: MessageFormat;
  readonly redaction: Redaction;
  readonly onMessage: (level: LogLevel) => void;
}

export const NAMED = 20;
/** Longer than any message waits to be repeated, ms. */
const FORGOTTEN_MS = 10 * 60_000;

export function counted(ids: readonly number[]): LogFields {
  return { count: ids.length, deploymentIds: ids.slice(0, NAMED) };
}

export function createHeartLog({ stderr, level, format, redaction, onMessage }: HeartLogOptions): HeartLog {
  const lineOf = isText(format, stderr.isTerminal) ? asText : asJson;
  /** When a message was last logged, and how often it was suppressed since. */
  const logged = new Map<string, { readonly at: number; suppressed: number }>();

  function suppressedBefore({ text, everyMs = 0 }: Message, subject: string): number | undefined {
    const now = performance.now();
    for (const [old, { at }] of logged) if (now - at > FORGOTTEN_MS) logged.delete(old);
    const key = `${text} ${subject}`;
    const last = logged.get(key);
    if (last !== undefined && now - last.at < everyMs) {
      last.suppressed += 1;
      return undefined;
    }
    logged.set(key, { at: now, suppressed: 0 });
    return last?.suppressed ?? 0;
  }

  return (message, fields = {}, subject = '') => {
    const suppressed = suppressedBefore(message, subject);
    if (suppressed === undefined) return false;
    if (LOG_LEVELS.indexOf(message.level) > LOG_LEVELS.indexOf(level())) return true;
    onMessage(message.level);
    const all = message.isCounted && suppressed > 0 ? { ...fields, suppressed } : fields;
    stderr.write(`${lineOf(message, all, redaction)}\n`);
    return true;
  };
}

function asJson({ level, text }: Message, fields: LogFields, redaction: Redaction): string {
  return redaction.json(JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: text }));
}

/** `[2026-11-28 07:58:01.123] WARN: heartbeat state changed {"deploymentId":42}`, as pino-pretty writes it. */
function asText({ level, text }: Message, fields: LogFields, redaction: Redaction): string {
  const json = redaction.json(JSON.stringify(fields));
  const time = new Date().toISOString().slice(0, 23).replace('T', ' ');
  return `[${time}] ${level.toUpperCase()}: ${redaction.text(text)}${json === '{}' ? '' : ` ${json}`}`;
}

export interface Message {
  readonly level: LogLevel;
  readonly text: string;
  /** It is logged once in this time about one subject, ms. */
  readonly everyMs?: number | undefined;
  /** The next line has the number of suppressed ones. */
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

/** All that the heart says. A message is a static sentence; its facts are fields. */
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

export const STATE_LEVELS: Readonly<Partial<Record<HeartbeatState, LogLevel>>> = {
  retrying: 'warn',
  throttled: 'warn',
  'suspect-gone': 'warn',
  urgent: 'error',
  unauthorized: 'error',
  lapsed: 'error',
  gone: 'error',
};

export const STATE_ADVICE: Readonly<Partial<Record<HeartbeatState, string>>> = {
  urgent: 'heartbeats fail and the TTL is running out; check that the service is reachable from here',
  unauthorized:
    'put a valid API key with the permission instance_write into PILOTLIGHT_API_KEY, or into the file of PILOTLIGHT_API_KEY_FILE',
  lapsed: 'the TTL has passed without an accepted heartbeat; the deployment has probably expired',
  gone: 'the service does not know this deployment; heartbeats go on, every 30 s once its TTL has passed',
};
export const LIMIT_ADVICE = 'use a longer TTL, fewer deployments for this key, or a second key';

export interface Stderr {
  readonly isTerminal: boolean;
  /** Takes a line with its newline, or counts it as dropped. */
  write(line: string): void;
  /** Resolves when everything is written, or after `limitMs`. */
  flush(limitMs: number): Promise<void>;
}

const STDERR = 2;
/** Characters that wait. */
const CAPACITY = 256 * 1024;
const LINE_END = 0x0a;
/** A full pipe is tried again after this, ms. */
const AGAIN_MS = 50;

/** What waits is bounded, what does not fit is dropped and counted. `fd`: a descriptor whose writes do not block. */
export function openStderr(fd: number = nonBlocking(STDERR)): Stderr {
  let waiting = '';
  let underWay: Buffer | undefined;
  /** Messages in what waits, and in what is under way, with those that a line counts as dropped. */
  let waitingCount = 0;
  let underWayCount = 0;
  let dropped = 0;
  /** The last write ended within a line, whose rest was dropped. */
  let isTorn = false;
  let idle: (() => void)[] = [];

  function pump(): void {
    if (underWay) return;
    if (waiting === '') {
      for (const tell of idle.splice(0)) tell();
      return;
    }
    underWay = Buffer.from(isTorn ? `\n${waiting}` : waiting);
    underWayCount = waitingCount;
    waiting = '';
    waitingCount = 0;
    send(underWay);
  }

  function send(bytes: Buffer): void {
    write(fd, bytes, (failure, written) => {
      if (!failure && written > 0) isTorn = bytes[written - 1] !== LINE_END;
      if (failure?.code === 'EAGAIN') {
        setTimeout(() => send(bytes), AGAIN_MS).unref();
      } else if (!failure && written < bytes.length) {
        send(bytes.subarray(written));
      } else {
        if (failure) dropped += underWayCount;
        underWay = undefined;
        pump();
      }
    });
  }

  return {
    isTerminal: isatty(fd),
    write(line) {
      if (waiting.length + line.length > CAPACITY) {
        dropped += 1;
        return;
      }
      if (dropped > 0) {
        waiting += `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), dropped, msg: 'standard error did not take all messages' })}\n`;
        waitingCount += dropped;
        dropped = 0;
      }
      waiting += line;
      waitingCount += 1;
      pump();
    },
    async flush(limitMs) {
      if (!underWay && waiting === '') return;
      const { promise, resolve } = Promise.withResolvers<void>();
      idle.push(resolve);
      const timer = setTimeout(resolve, limitMs);
      await promise;
      clearTimeout(timer);
    },
  };
}

/**
 * Node waits for threads of its pool when it exits, so writes must not block even those. A terminal is opened
 * again; pipes and sockets become non-blocking when Node first touches them.
 */
export function nonBlocking(fd: 1 | 2): number {
  void [process.stdout, process.stderr];
  if (!isatty(fd)) return fd;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}
