/** The daemon in this process, with a real service and Redis, and the test in the place of the heart. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RateLimiter } from '../../../src/client/rate-limiter.ts';
import { systemMs } from '../../../src/client/retry.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { startDaemon, type Daemon } from '../../../src/daemon/daemon.ts';
import { createLogger } from '../../../src/daemon/process/logger.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { GrantOffice } from '../../../src/client/gate.ts';
import type { DaemonMessage, HeartMessage } from '../../../src/heartbeat/process/link.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { LineOutput } from '../../../src/logs/sinks/stdout.ts';
import { serviceOf } from '../../support/daemon.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { prefixed } from '../../support/settings.ts';

const GROUP = 7;

let emulator: Emulator;
const running: Daemon[] = [];
beforeEach(async () => {
  emulator = await startEmulator({ seed: { workergroups: [{ id: GROUP, lines_per_second: 0 }] } });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const daemon of running.splice(0)) await daemon.stop(1_000);
  await emulator.close();
});

type Started = Awaited<ReturnType<typeof start>>;

/** `env` without the PILOTLIGHT_ prefix; it can be changed for a reload. */
async function start(env: Record<string, string> = {}, restarts = 0) {
  const all = { ...serviceOf(emulator), LISTEN: '127.0.0.1:0', ADMIN_LISTEN: '127.0.0.1:0', ...env };
  const load = () => loadConfig(prefixed(all));
  const { settings, ...config } = load();
  if (!settings) throw new Error('the configuration is invalid');
  const lines: Record<string, unknown>[] = [];
  const sent: DaemonMessage[] = [];
  const ends: number[] = [];
  let output = '';
  let hear: (message: HeartMessage) => void = () => {};
  const mono = (): number => performance.now();
  const office = new GrantOffice(new RateLimiter());
  const daemon = await startDaemon({
    config: { ...config, settings },
    loadConfig: load,
    createLogger: (hooks) =>
      createLogger({
        ...hooks,
        level: 'info',
        format: 'json',
        destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
      }),
    stdout: new LineOutput((bytes) => {
      output += bytes.toString();
      return Promise.resolve(bytes.length);
    }),
    heart: {
      send(message) {
        if (message.type === 'ask')
          hear({ type: 'grants', grants: office.answer(message.ask, mono(), systemMs()) });
        else sent.push(message);
      },
      listen: (listener) => void (hear = listener),
    },
    restarts,
    onEnd: (withinMs) => void ends.push(withinMs),
  });
  running.push(daemon);
  return {
    daemon,
    env: all,
    lines,
    sent,
    ends,
    told: (message: HeartMessage) => hear(message),
    output: () => output,
    said: (words: string) => lines.filter(({ msg }) => String(msg).startsWith(words)),
    ask: async (path: string, init?: RequestInit) => (await fetch(`${daemon.url}${path}`, init)).text(),
  };
}

describe('at its start', () => {
  test('it tells the heart, and says once what it is and where', async () => {
    const { daemon, sent, said } = await start({
      DEPLOYMENTS: '42@60s,43@60s',
      WORKER_GROUPS: '7,8,9',
      ENDPOINT_GROUPS: '[{"endpoint_name":"chat"}]',
    });
    expect(sent).toEqual([{ type: 'started' }]);
    expect(daemon.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(said('pilotlight started')).toEqual([
      expect.objectContaining({
        level: 'info',
        version: expect.any(String),
        url: daemon.url,
        adminUrl: daemon.adminUrl,
        deployments: 2,
        workerGroups: 3,
        endpointGroups: 1,
      }),
    ]);
    expect((await fetch(`${daemon.adminUrl}/-/config`)).status).toBe(200);
    expect(await (await fetch(`${daemon.url}/readyz`)).text()).toBe('ready\n');
  });

  test('its configuration counts as loaded, and its messages are counted', async () => {
    const { ask, lines } = await start({ WORKER_GROUPS: 'x' });
    const metrics = await ask('/metrics');
    expect(metrics).toContain('pilotlight_config_last_reload_successful 1\n');
    const errors = lines.filter(({ level }) => level === 'error').length;
    expect(errors).toBeGreaterThan(0);
    expect(metrics).toContain(`pilotlight_log_messages_total{level="error"} ${errors}\n`);
  });

  test('it says what is off, and each problem as bad as it is, but no notes', async () => {
    const { said, daemon } = await start({
      WORKER_GROUPS: 'x',
      ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97}]',
      AUTOTUNE: 'observe',
    });
    expect(said('switched off')).toMatchObject([
      { level: 'error', feature: 'logs', msg: 'switched off: no log is followed' },
    ]);
    const problems = said('configuration problem').map(({ level, severity }) => [level, severity]);
    expect(new Set(problems.map((pair) => pair.join(' ')))).toEqual(new Set(['error error', 'warn warning']));
    expect(daemon.status().config_problems).toMatchObject([
      { variable: 'PILOTLIGHT_AUTOTUNE', severity: 'warning' },
      { variable: 'PILOTLIGHT_WORKER_GROUPS', severity: 'error' },
    ]);
  });

  test('listeners that are off are not there', async () => {
    const { daemon } = await start({ LISTEN: 'x', ADMIN_LISTEN: 'x' });
    expect([daemon.url, daemon.adminUrl]).toEqual([undefined, undefined]);
  });

  test('it is alone where nobody says otherwise, and tells how many there were before it', async () => {
    const { daemon } = await start({}, 2);
    expect(daemon.status()).toMatchObject({
      heart: { daemon_restarts: 2 },
      replica: { id: expect.stringMatching(/^[\da-f-]{36}$/), role: 'alone', last_error: null },
    });
  });
});

describe('told by the heart', () => {
  test('to reload, it asks the heart to do so too, and all of its parts take what is new', async () => {
    const { daemon, env, sent, told } = await start({ WORKER_GROUPS: '7' });
    Object.assign(env, { WORKER_GROUPS: '8,9', ENDPOINTS: 'chat', MACHINES: '11' });
    told({ type: 'reload' });
    await expect.poll(() => sent.at(-1), { interval: 1 }).toEqual({ type: 'reload', number: 1 });
    told({ type: 'reloaded', number: 1, ok: true, problems: [] });
    const groups = () => daemon.status().worker_groups.map(({ workergroup_id: id }) => id);
    await expect.poll(groups, { interval: 1 }).toEqual([8, 9]);
    await expect.poll(() => daemon.fleet.view().samples, { interval: 1 }).toBe(true);
    const jobs = () => daemon.status().jobs.map(({ job }) => job);
    expect(jobs()).toEqual(['maintenance', 'instances', 'account']);
  });

  test('to stop, it says so, and ends each part once', async () => {
    const { daemon, ends, told, said } = await start({ WORKER_GROUPS: '7', ENDPOINTS: 'chat' });
    told({ type: 'stop', withinMs: 1_234 });
    expect(ends).toEqual([1_234]);
    const { url } = daemon;
    await daemon.stop(5_000);
    expect(daemon.status().state).toBe('stopped');
    expect(daemon.fleet.view().samples).toBe(false);
    expect(said('shutdown was not clean')).toEqual([]);
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });
});

test('what it follows goes to its standard output, to the last line that was taken', async () => {
  emulator.workergroups.append(GROUP, ['one', 'two']);
  const { daemon, output } = await start({ WORKER_GROUPS: String(GROUP) });
  await expect.poll(() => daemon.status().worker_groups[0]?.lines, { interval: 1 }).toBe(2);
  await daemon.stop(5_000);
  const lines = output().trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { line: string }).line)).toEqual(['one', 'two']);
});

test('its page has all that it asks for', async () => {
  const { ask, daemon } = await start();
  const page = await ask('/');
  const files = new Set(['/uPlot.iife.min.js', '/uPlot.min.css', '/plot.js']);
  for (const [, name = ''] of page.matchAll(/(?:src|href)="([\w./-]+\.(?:js|css|svg))"/g))
    files.add(`/${name}`);
  for (const file of files) {
    const answer = await fetch(new URL(file, daemon.url));
    const text = await answer.text();
    expect([file, answer.status, text.length > 0]).toEqual([file, 200, true]);
    expect(answer.headers.get('content-type')).toMatch(
      /^(?:text\/(?:css|javascript); charset=utf-8|image\/svg\+xml)$/,
    );
    // Those that it imports are looked at in turn.
    for (const [, name = ''] of text.matchAll(/(?:from |import\()'(\.[\w./-]+\.js)'/g))
      files.add(new URL(name, new URL(file, daemon.url)).pathname);
  }
  expect([...files]).toEqual(expect.arrayContaining(['/status.js', '/status-dom.js', '/endpoints.js']));
});

test('secrets are in nothing that it says or answers', async () => {
  const { ask, daemon, lines } = await start({ API_KEY: 'sesame-open-1234' });
  daemon.logger.info({ key: 'sesame-open-1234' }, 'a mistake of somebody');
  expect(lines.at(-1)?.['key']).toBe('[redacted]');
  expect(await ask('/sesame-open-1234')).not.toContain('sesame');
});

test('a file that was missing at the start ends the daemon when it comes', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'groups');
  const { ends, said } = await start({ WORKER_GROUPS_FILE: path, SHUTDOWN_TIMEOUT: '7s' });
  expect(ends).toEqual([]);
  writeFileSync(path, '7');
  await expect.poll(() => ends, { timeout: 10_000 }).toEqual([7_000]);
  expect(said('a file of the configuration is there now')).toHaveLength(1);
});

describeWithRedis('one of several', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const daemon of running.splice(0)) await daemon.stop(1_000);
    await redis[Symbol.asyncDispose]();
  });

  const role = ({ daemon }: Started) => daemon.status().replica.role;
  async function startHolder(): Promise<Started> {
    emulator.workergroups.append(GROUP, ['one']);
    const holder = await start({ REDIS_URL: redis.url(), WORKER_GROUPS: String(GROUP), ENDPOINTS: 'chat' });
    await expect.poll(() => role(holder), { interval: 1 }).toBe('holder');
    await expect.poll(() => holder.output(), { interval: 1 }).toContain('"one"');
    await expect.poll(() => holder.daemon.status().account, { interval: 1 }).not.toBeNull();
    await expect.poll(() => holder.daemon.fleet.view().samples, { interval: 1 }).toBe(true);
    return holder;
  }

  test('follows and watches where it holds the lease, and gives it back at its end', async () => {
    const first = await startHolder();
    const { id } = first.daemon.status().replica;
    const token = await redis.cli('GET', await leaseKey());
    expect(first.daemon.fleet.view()).toMatchObject({ history: 'memory', samples: true, isElsewhere: false });
    expect(first.said('this replica follows the logs now')).toMatchObject([
      { level: 'info', replica: id, token: Number(token) },
    ]);
    const second = await start({ REDIS_URL: redis.url(), ENDPOINTS: 'chat' });
    expect(second.daemon.status().replica).toMatchObject({ role: 'standby', last_error: null });
    expect(second.daemon.fleet.view().samples).toBe(false);
    expect(await redis.cli('GET', await leaseKey())).toBe(token);
    await first.daemon.stop(5_000);
    expect(await redis.cli('GET', await leaseKey())).not.toBe(token);
  });

  test('tells nothing of what it saw once another is the one that watches', async () => {
    const first = await startHolder();
    await redis.cli('SET', await leaseKey(), 'of another');
    await expect.poll(() => role(first), { interval: 1 }).toBe('standby');
    expect(first.daemon.status()).toMatchObject({ instances: {}, maintenance_windows: [], account: null });
    expect(first.said('the lease is gone')).toMatchObject([{ level: 'warn' }]);
  });

  test('says that Redis has lost what was in it, and goes on in a new epoch', async () => {
    const first = await startHolder();
    await redis.cli('FLUSHALL');
    await expect.poll(() => first.said('Redis may have lost'), { interval: 1 }).toHaveLength(1);
    await expect.poll(() => role(first), { interval: 1 }).toBe('holder');
    emulator.workergroups.append(GROUP, ['two']);
    await expect.poll(() => first.output(), { interval: 1 }).toContain('"two"');
    const records = first.output().trim().split('\n');
    expect(records.map((line) => JSON.parse(line) as LogRecord)).toMatchObject([
      { seq: 1, line: 'one' },
      { seq: 2, gap: { reason: 'reset' } },
      { seq: 3, line: 'two' },
    ]);
  });

  async function leaseKey(): Promise<string> {
    return (await redis.cli('KEYS', '*:lease')).trim();
  }
});
