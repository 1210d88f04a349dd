import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadHeartConfig } from '../../../../src/config/load-heart.ts';
import type { ServiceManagerSettings } from '../../../../src/config/other-variables.ts';
import type { Report } from '../../../../src/heartbeat/process/link.ts';
import { HeartService } from '../../../../src/heartbeat/process/heart-service.ts';
import { FAILURE_WORDS } from '../../../../src/heartbeat/engine/state.ts';
import { MESSAGES } from '../../../../src/heartbeat/process/log.ts';
import { ScriptedDaemon } from './scripted-daemon.ts';
import { serve } from '../../../support/local-server.ts';
import { NotifyProgram } from '../../../support/notify-program.ts';
import { prefixed } from '../../../support/settings.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const soon = <T>(what: () => T) => expect.poll(what, { interval: 2 });

/** Nobody listens there. */
const UNREACHABLE = 'http://127.0.0.1:9';

class Scene {
  readonly lines: Line[] = [];
  readonly daemon = new ScriptedDaemon();
  readonly service: HeartService;
  /** The configuration as the next load finds it. */
  readonly environment: Record<string, string>;
  quits = 0;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.environment = { API_KEY: 'first-key', BASE_URL: UNREACHABLE, ...env };
    const loaded = this.#load();
    const { settings } = loaded;
    if (!settings) throw new Error(JSON.stringify(loaded.problems));
    this.service = new HeartService({
      ...loaded,
      settings,
      loadConfig: () => this.#load(),
      stderr: {
        isTerminal: false,
        write: (line) => void this.lines.push(JSON.parse(line) as Line),
        flush: () => Promise.resolve(),
      },
    });
  }

  readonly startDaemon = (serviceManager?: ServiceManagerSettings): void => {
    this.service.startDaemon({
      onQuit: () => (this.quits += 1),
      serviceManager,
      start: () => {
        this.daemon.say({ type: 'started' });
        return this.daemon;
      },
    });
  };

  readonly said = (): string[] => this.lines.map(({ msg }) => msg);

  readonly reports = (): Report[] =>
    this.daemon.heard.flatMap((message) => (message.type === 'report' ? [message.report] : []));

  #load() {
    return loadHeartConfig(prefixed(this.environment));
  }
}

test('each problem is said at the start by its severity, and which variables do not count', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  writeFileSync(file, 'PILOTLIGHT_DEPLOYMENT_TTL=60s\n');
  const { service, lines } = new Scene({
    API_KEY: '',
    API_KEY_FILE: join(folder.path, 'key'),
    BASE_URL: 'http://service.example',
    ENV_FILE: file,
    DEPLOYMENT_TTL: '30s',
    SERVICE_HOST: '10.0.0.1',
  });
  const msg = 'configuration problem';
  expect(lines).toMatchObject([
    { level: 'error', problem: expect.stringContaining('PILOTLIGHT_API_KEY_FILE'), msg },
    { level: 'warn', problem: expect.stringContaining('PILOTLIGHT_BASE_URL'), msg },
    { level: 'info', names: ['PILOTLIGHT_SERVICE_HOST'], msg: MESSAGES.ignoredVariables.text },
    { level: 'info', names: ['PILOTLIGHT_DEPLOYMENT_TTL'], msg: MESSAGES.overriddenVariables.text },
  ]);
  writeFileSync(join(folder.path, 'key'), 'first-key');
  service.reload();
  const words = [MESSAGES.overriddenVariables.text, MESSAGES.reloaded.text];
  await soon(() => lines.slice(4).map((line) => line.msg)).toEqual(words);
  await service.stop();
});

describe('the daemon', () => {
  let scene: Scene;
  beforeEach(async () => {
    vi.useFakeTimers();
    scene = new Scene({ DEPLOYMENTS: '' });
    scene.startDaemon();
    await vi.advanceTimersByTimeAsync(100);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await scene.service.stop();
  });

  test('asks for turns, and for the end of the program', async () => {
    expect(scene.quits).toBe(0);
    scene.daemon.say({ type: 'ask', ask: { number: 1, operations: [], answers: [] } });
    await vi.advanceTimersByTimeAsync(1);
    expect(scene.daemon.heard.at(-1)).toMatchObject({ type: 'grants', grants: { number: 1 } });
    scene.daemon.say({ type: 'quit' });
    await vi.advanceTimersByTimeAsync(1);
    expect(scene.quits).toBe(1);
  });

  test('sets the level of the lines, to one that there is', async () => {
    for (const [level, lines] of [
      ['error', []],
      ['loud', []],
      ['info', ['heartbeats reloaded']],
    ] as const) {
      scene.daemon.say({ type: 'log-level', level });
      await vi.advanceTimersByTimeAsync(1);
      scene.service.reload();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(scene.said()).toEqual(lines);
    }
  });

  test('leads a reload, and is told of its result', async () => {
    scene.environment['DEPLOYMENTS'] = '';
    scene.service.reload();
    expect(scene.daemon.heard.at(-1)).toEqual({ type: 'reload' });
    await vi.advanceTimersByTimeAsync(2_999);
    expect(scene.said()).toEqual([]);
    scene.daemon.say({ type: 'reload', number: 7 });
    await vi.advanceTimersByTimeAsync(100);
    expect(scene.daemon.heard).toContainEqual({ type: 'reloaded', number: 7, ok: true, problems: [] });
    expect(scene.lines).toMatchObject([{ level: 'info', msg: 'heartbeats reloaded', deployments: 0 }]);
    expect(scene.lines[0]).not.toHaveProperty('dropped');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.lines).toHaveLength(1);
  });

  test('that does not begin with a reload is not waited for', async () => {
    scene.service.reload();
    await vi.advanceTimersByTimeAsync(1_000);
    scene.service.reload();
    await vi.advanceTimersByTimeAsync(2_999);
    expect(scene.said()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(scene.said()).toEqual(['heartbeats reloaded']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.lines).toHaveLength(1);
  });

  test('that refuses a reload keeps the heart from it', async () => {
    scene.service.reload();
    scene.daemon.say({ type: 'reload-refused' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.said()).toEqual([]);
  });

  test('is told that a reload is refused, and why; nothing changes', async () => {
    scene.environment['LOG_LEVEL'] = 'loud';
    scene.environment['DEPLOYMENTS'] = '42@60s';
    scene.daemon.say({ type: 'reload', number: 1 });
    await vi.advanceTimersByTimeAsync(100);
    const problems = [expect.stringMatching(/^error: PILOTLIGHT_LOG_LEVEL: got loud/)];
    expect(scene.daemon.heard.at(-1)).toEqual({ type: 'reloaded', number: 1, ok: false, problems });
    expect(scene.lines).toMatchObject([{ level: 'error', problems }]);
    expect(scene.lines[0]?.msg).toContain('the old one stays in force');
    scene.environment['LOG_LEVEL'] = 'warn';
    scene.environment['DEPLOYMENTS'] = '';
    scene.daemon.say({ type: 'reload', number: 2 });
    await vi.advanceTimersByTimeAsync(100);
    expect(scene.daemon.heard.at(-1)).toMatchObject({ type: 'reloaded', number: 2, ok: true });
    // The new level rules at once.
    expect(scene.lines).toHaveLength(1);
  });
});

test('without a daemon a reload is the heart’s own, at once', async () => {
  vi.useFakeTimers();
  const { service, lines } = new Scene();
  service.reload();
  expect(lines).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lines).toMatchObject([{ msg: 'heartbeats reloaded' }]);
  service.reload();
  vi.useRealTimers();
  await service.stop();
  expect(lines).toHaveLength(2);
});

test('a reload names the deployments that it adds and drops', async () => {
  const names = Array.from({ length: 23 }, (_, index) => `name:n${index}`);
  const scene = new Scene({ DEPLOYMENTS: '42@20s,name:square', FINAL_HEARTBEAT: 'false' });
  const reloaded = () => scene.lines.filter(({ msg }) => msg === MESSAGES.reloaded.text);
  for (const deployments of ['42@30s,43', `42@30s,${names.join()}`, `42@30s,${names.slice(20).join()}`]) {
    const before = reloaded().length;
    scene.environment['DEPLOYMENTS'] = deployments;
    scene.service.reload();
    await soon(reloaded).toHaveLength(before + 1);
  }
  await scene.service.stop();
  expect(reloaded()).toMatchObject([
    { deployments: 2, added: ['43'], dropped: ['name:square'] },
    { deployments: 24, added: [...names.slice(0, 20), 'and 3 more'], dropped: ['43'] },
    { deployments: 4, dropped: names.slice(0, 20) },
  ]);
});

test('a reload that the end overtakes is none', async () => {
  const { service, said } = new Scene();
  service.reload();
  await service.stop();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(said()).toEqual(['heartbeats ended']);
});

test('what should not happen is said with its stack, and ends nothing', async () => {
  const { service, lines } = new Scene();
  service.fault('uncaughtException', new Error('a bug'));
  service.fault('unhandledRejection', 'a word');
  const all = { level: 'fatal', msg: MESSAGES.unexpected.text };
  const stack = expect.stringContaining('heart-service.test') as string;
  expect(lines).toMatchObject([
    { ...all, error: 'a bug', stack, event: 'uncaughtException' },
    { ...all, error: 'a word', event: 'unhandledRejection' },
  ]);
  await service.stop();
});

describe('the end', () => {
  test('is the daemon’s first, within what SHUTDOWN_TIMEOUT leaves', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { service, daemon, lines, startDaemon } = new Scene({ SHUTDOWN_TIMEOUT: '10s' });
    startDaemon();
    await vi.waitFor(() => expect(daemon.heard).not.toEqual([]), { interval: 1 });
    const { leftMs } = await service.stop();
    vi.useRealTimers();
    expect(daemon.heard.at(-1)).toEqual({ type: 'stop', withinMs: 9_700 });
    expect(leftMs).toBe(9_850);
    expect(daemon.killed).toBe(false);
    expect(lines).toMatchObject([{ msg: 'heartbeats ended' }]);
  });

  test('of a daemon that does not obey is said', async () => {
    const { service, daemon, lines, startDaemon } = new Scene({ SHUTDOWN_TIMEOUT: '350ms' });
    startDaemon();
    daemon.obeys = false;
    await vi.waitFor(() => expect(daemon.heard).not.toEqual([]), { interval: 1 });
    await service.stop();
    expect(daemon.killed).toBe(true);
    expect(lines).toMatchObject([
      { level: 'error', msg: MESSAGES.daemonKilled.text },
      { level: 'info', msg: 'heartbeats ended' },
    ]);
  });

  test.each([
    ['true', [{ level: 'warn', count: 2, deploymentIds: [42, 43] }]],
    ['false', []],
  ])('names those that no last heartbeat reached: %s', async (isSent, missed) => {
    const DEPLOYMENTS = '42@20s,43@20s';
    const { service, lines } = new Scene({ DEPLOYMENTS, SHUTDOWN_TIMEOUT: '350ms', FINAL_HEARTBEAT: isSent });
    await service.firstExchange;
    await service.stop();
    expect(lines.filter(({ msg }) => msg === MESSAGES.lastNotAccepted.text)).toMatchObject(missed);
  });
});

describe('a heart with a deployment', () => {
  const ACCEPTED = { success: true, deployment_id: 42 };

  test('tells the daemon of it, of its requests, of its app, and when it is no more', async () => {
    await using server = await serve((_, response) => response.end(JSON.stringify(ACCEPTED)));
    const app = { APP_HEALTH: 'tcp://127.0.0.1:9', APP_GRACE: '33s' };
    const scene = new Scene({ BASE_URL: server.url, DEPLOYMENTS: '42@20s', LOG_LEVEL: 'warn', ...app });
    const { service, daemon, environment, reports } = scene;
    await service.firstExchange;
    scene.startDaemon();
    const states = () => reports().flatMap(({ changed }) => changed.map(({ state }) => state));
    await soon(states).toContain('healthy');
    expect(reports().flatMap(({ exchanges }) => exchanges)).toContainEqual(
      expect.objectContaining({ operation: 'deployments.heartbeat', code: '200' }),
    );
    expect(reports().flatMap(({ lags }) => lags)).toEqual([expect.any(Number)]);
    expect(reports()[0]?.openConnections).toBeGreaterThan(0);
    const { residentBytes, cpuSeconds } = reports()[0]?.vitals ?? {};
    expect(residentBytes).toBeGreaterThan(1e7);
    expect(cpuSeconds).toBeGreaterThan(0);
    await soon(scene.said).toContain(MESSAGES.appUnhealthy.text);
    await soon(() => reports().at(-1)?.app).toMatchObject({ state: 'unhealthy', graceMs: 33_000 });
    environment['DEPLOYMENTS'] = '';
    daemon.say({ type: 'reload', number: 1 });
    await soon(() => reports().flatMap(({ removed }) => removed)).toEqual([42]);
    await service.stop();
  });

  test('says that its key could not be read again, and goes on with it', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'key');
    writeFileSync(file, 'first-key');
    await using server = await serve((_, response) => {
      rmSync(file, { force: true });
      response.writeHead(401).end('{}');
    });
    const { service, lines, said } = new Scene({
      API_KEY: '',
      API_KEY_FILE: file,
      BASE_URL: server.url,
      DEPLOYMENTS: '42@20s',
      FINAL_HEARTBEAT: 'false',
    });
    const words = MESSAGES.keyUnreadable.text;
    await soon(said).toContain(words);
    const line = lines.find(({ msg }) => msg === words);
    expect(line).toMatchObject({ file, why: expect.stringContaining('ENOENT') });
    await service.stop();
  });

  test('without a key says so, not that the service refuses one, and never quotes what may be the key', async () => {
    const secret = 'sk-SECRETKEY-9';
    const { service, lines, said } = new Scene({
      API_KEY: '',
      API_KEY_FILE: secret,
      DEPLOYMENTS: '42@20s',
      FINAL_HEARTBEAT: 'false',
    });
    const state = MESSAGES.stateChanged.text;
    await soon(said).toEqual(expect.arrayContaining([MESSAGES.keyMissing.text, state]));
    await service.stop();
    expect(lines.find(({ msg }) => msg === state)).toMatchObject({ reason: FAILURE_WORDS['no-key'] });
    const text = JSON.stringify(lines);
    expect(text).toContain('if this is the value itself, set PILOTLIGHT_API_KEY instead');
    expect(text).not.toContain(secret);
    expect(text).not.toContain('refuses');
  });
});

describe('systemd', () => {
  test('is told that it is ready, reloads with how many there are now, and stops', async () => {
    using program = new NotifyProgram();
    const { service, startDaemon, daemon, environment } = new Scene({ FINAL_HEARTBEAT: 'false' });
    startDaemon({ watchdogMs: undefined });
    await soon(program.ended).toEqual(['READY=1 STATUS=keeping 0 deployments alive']);
    environment['DEPLOYMENTS'] = '42@20s';
    daemon.say({ type: 'reload', number: 1 });
    await soon(program.ended).toContain('READY=1 STATUS=keeping 1 deployment alive');
    service.reload();
    await soon(program.ended).toContainEqual(expect.stringContaining('RELOADING=1'));
    await service.stop();
    await soon(program.ended).toContain('STOPPING=1 STATUS=stopping');
  });

  test('that cannot be told is said', async () => {
    using program = new NotifyProgram();
    program.fails = true;
    // Signs of life have no end but the process': here they end with the test.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { service, startDaemon, said } = new Scene({ DEPLOYMENTS: '42@20s', FINAL_HEARTBEAT: 'false' });
    startDaemon({ watchdogMs: 5 });
    const words = MESSAGES.systemdFailed.text;
    await soon(said).toContain(words);
    const begun = () => {
      vi.advanceTimersByTime(5);
      return program.begun();
    };
    await soon(begun).toContain('WATCHDOG=1');
    await service.stop();
  });
});
