/** The daemon in this process, configured as a user would: by environment variables. */
import { Writable } from 'node:stream';
import { loadConfig } from '../../src/config/load.ts';
import type { OpenHeart } from '../../src/heartbeat/heart.ts';
import { startDaemon, type Daemon } from '../../src/daemon/daemon.ts';
import { createLogger } from '../../src/daemon/logger.ts';
import type { LogRecord } from '../../src/logs/record.ts';

export interface TestDaemon extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly url: string;
  /** Its own log lines, parsed. */
  readonly messages: readonly Record<string, unknown>[];
  /** What came out of stdout: one record a line. */
  records(): LogRecord[];
  /** Lines of a worker group in the order of their delivery. */
  lines(workergroupId: number): string[];
  metrics(): Promise<string>;
}

export interface TestDaemonOptions {
  /** Where the heartbeats run; in a thread of their own when absent. */
  readonly openHeart?: OpenHeart;
  /** Sees each chunk that goes to stdout. */
  readonly onOutput?: () => void;
}

/** `env` without the PILOTLIGHT_ prefix. Ports are picked freely unless it says otherwise. */
export async function startTestDaemon(
  env: Record<string, string>,
  { openHeart, onOutput }: TestDaemonOptions = {},
): Promise<TestDaemon> {
  const environment = Object.fromEntries(
    Object.entries({ LISTEN: '127.0.0.1:0', ADMIN_LISTEN: '127.0.0.1:0', LOG_LEVEL: 'debug', ...env }).map(
      ([name, value]) => [`PILOTLIGHT_${name}`, value],
    ),
  );
  const config = loadConfig(environment);
  if (!config.settings) throw new Error(JSON.stringify(config.problems));
  const messages: Record<string, unknown>[] = [];
  let output = '';
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      onOutput?.();
      output += chunk.toString();
      done();
    },
  });
  const daemon = await startDaemon({
    config: { ...config, settings: config.settings },
    loadConfig: () => loadConfig(environment),
    stdout,
    onQuit: () => {},
    ...(openHeart && { openHeart }),
    createLogger: (hooks) =>
      createLogger({
        ...hooks,
        level: 'debug',
        format: 'json',
        destination: {
          write: (line: string) => void messages.push(JSON.parse(line) as Record<string, unknown>),
        },
      }),
  });
  function records(): LogRecord[] {
    return output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogRecord);
  }
  return {
    daemon,
    url: daemon.url,
    messages,
    records,
    lines: (workergroupId) =>
      records().flatMap((record) =>
        record.workergroup_id === workergroupId && 'line' in record ? [record.line] : [],
      ),
    async metrics() {
      return (await fetch(`${daemon.url}/metrics`)).text();
    },
    [Symbol.asyncDispose]: () => daemon.stop(),
  };
}

/** Waits until `condition` holds, looking every few milliseconds; the test's own timeout ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
