/** The heart and the daemon in this process, configured as a user would: by environment variables. */
import { setTimeout as delay } from 'node:timers/promises';
import { loadHeartConfig } from '../../src/config/load-heart.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startDaemon, type Daemon } from '../../src/daemon/daemon.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import type { Status } from '../../src/daemon/status/schema.ts';
import { createLogger } from '../../src/daemon/process/logger.ts';
import type { StartDaemon } from '../../src/heartbeat/process/supervisor.ts';
import { HeartService } from '../../src/heartbeat/process/heart-service.ts';
import type { DaemonMessage, HeartMessage, Link } from '../../src/heartbeat/process/link.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import type { Clock } from '../../src/time/clock.ts';
import { LineOutput } from '../../src/logs/sinks/stdout.ts';
import { PATIENCE_MS } from './process.ts';
import { prefixed } from './settings.ts';

export interface TestDaemon extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly url: string;
  readonly adminUrl: string;
  /** Log lines of both, parsed. */
  readonly messages: readonly Record<string, unknown>[];
  records(): LogRecord[];
  lines(workergroupId: number): string[];
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** How a daemon reaches this emulator. */
export function serviceOf({ apiKey, url }: Pick<Emulator, 'apiKey' | 'url'>) {
  return { API_KEY: apiKey, BASE_URL: url };
}

/** `env` without the PILOTLIGHT_ prefix. Ports are picked freely unless it says otherwise. */
export async function startTestDaemon(
  env: Record<string, string>,
  { fleetClock }: { readonly fleetClock?: Clock } = {},
): Promise<TestDaemon> {
  const free = { LISTEN: '127.0.0.1:0', ADMIN_LISTEN: '127.0.0.1:0' };
  const environment = prefixed({ ...free, LOG_LEVEL: 'debug', ...env });
  const loaded = loadHeartConfig(environment);
  if (!loaded.settings) throw new Error(JSON.stringify(loaded.problems));
  const messages: Record<string, unknown>[] = [];
  const write = (line: string): void => void messages.push(JSON.parse(line) as Record<string, unknown>);
  let output = '';
  const stdout = new LineOutput((bytes) => {
    output += bytes.toString();
    return Promise.resolve(bytes.length);
  });
  const heart = new HeartService({
    ...loaded,
    settings: loaded.settings,
    loadConfig: () => loadHeartConfig(environment),
    stderr: { isTerminal: false, write, flush: () => Promise.resolve() },
  });
  const { promise: starting, resolve: started, reject: failed } = Promise.withResolvers<Daemon>();

  const start: StartDaemon = (restarts) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const [here, there] = linkedPair();
    const { settings, ...config } = loadConfig(environment);
    if (!settings) throw new Error(JSON.stringify(config.problems));
    const daemon = startDaemon({
      config: { ...config, settings },
      loadConfig: () => loadConfig(environment),
      stdout,
      ...(fleetClock && { fleetClock }),
      heart: there,
      restarts,
      onEnd: (withinMs) => void daemon.then((running) => running.stop(withinMs)).then(() => end('stopped')),
      createLogger: (hooks) =>
        createLogger({ ...hooks, level: 'debug', format: 'json', destination: { write } }),
    });
    daemon.then(started, failed);
    return {
      ...here,
      pid: undefined,
      ended,
      kill: () => void daemon.then((running) => running.stop(0)).then(() => end('killed')),
    };
  };
  heart.startDaemon({ start, onQuit() {}, serviceManager: undefined });
  const daemon = await starting;
  const { url, adminUrl } = daemon;
  if (url === undefined || adminUrl === undefined) throw new Error('the daemon does not listen');
  function records(): LogRecord[] {
    return output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogRecord);
  }
  let stopped: Promise<void> | undefined;
  const stopOnce = async (): Promise<void> => void (await heart.stop());
  const stop = (): Promise<void> => (stopped ??= stopOnce());
  return {
    daemon,
    url,
    adminUrl,
    messages,
    records,
    lines: (workergroupId) =>
      records().flatMap((record) =>
        record.workergroup_id === workergroupId && 'line' in record ? [record.line] : [],
      ),
    async metrics() {
      // A kept connection may end just as it is used again, where this process has been busy for seconds.
      return (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The two ends of a link: what one sends, the other hears later, as JSON has it. */
function linkedPair(): [Link<HeartMessage, DaemonMessage>, Link<DaemonMessage, HeartMessage>] {
  const heart = mailbox<DaemonMessage>();
  const daemon = mailbox<HeartMessage>();
  return [
    { send: daemon.post, listen: heart.listen },
    { send: heart.post, listen: daemon.listen },
  ];
}

function mailbox<Message>() {
  let hear: ((message: Message) => void) | undefined;
  const waiting: string[] = [];
  const deliver = (): void => {
    if (!hear) return;
    for (const text of waiting.splice(0)) hear(JSON.parse(text) as Message);
  };
  return {
    post: (message: Message): void => {
      waiting.push(JSON.stringify(message));
      setImmediate(deliver);
    },
    listen: (listener: (message: Message) => void): void => {
      hear = listener;
      setImmediate(deliver);
    },
  };
}

/** The status of a daemon at this address; of one that does not answer, nothing. */
export function statusAt(url: string): Promise<Status | undefined> {
  return fetch(`${url}/api/status`).then(
    // The port of one that was killed may be another program's by now.
    (answer) => (answer.ok ? (answer.json() as Promise<Status>) : undefined),
    () => undefined,
  );
}

/** Waits until `condition` holds; looks less often later, because many tests wait at once. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (let wait = 10; !(await condition()); wait = Math.min(100, wait * 1.2)) {
    if (performance.now() > deadline) throw new Error(`still waiting for ${String(condition)}`);
    await delay(wait);
  }
}
