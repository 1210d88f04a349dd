import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Redaction } from '../../../../src/contract/text/redaction.ts';
import { createHeartLog } from '../../../../src/heartbeat/process/log.ts';
import { Reports } from '../../../../src/heartbeat/process/reports.ts';
import { ScriptedDaemon } from './scripted-daemon.ts';
import { Supervisor } from '../../../../src/heartbeat/process/supervisor.ts';

const MEBIBYTE = 2 ** 20;
const BOUND = 144 * MEBIBYTE;

class Scene {
  readonly daemons: ScriptedDaemon[] = [];
  readonly lines: Record<string, unknown>[] = [];
  memory: number | undefined = 50 * MEBIBYTE;
  /** When the memory is known. */
  looked: Promise<void> | undefined;
  quits = 0;
  failsToStart = false;
  readonly reports = new Reports(
    () => ({
      snapshotOf: () => undefined,
      deploymentIds: () => [],
      lastTickAt: () => Date.now(),
      openConnections: () => 0,
      avoidedAddresses: () => [],
      missingDeployments: () => [],
      app: () => undefined,
    }),
    { read: () => ({ residentBytes: 0, cpuSeconds: 0, lagMs: 0 }) },
  );
  readonly supervisor: Supervisor;

  constructor(prepare: (daemon: ScriptedDaemon) => void = () => {}) {
    this.supervisor = new Supervisor({
      start: (restarts) => {
        if (this.failsToStart) throw new Error('spawn EMFILE');
        const daemon = new ScriptedDaemon(100 + restarts);
        prepare(daemon);
        this.daemons.push(daemon);
        daemon.say({ type: 'started' });
        return daemon;
      },
      reports: this.reports,
      log: createHeartLog({
        stderr: { write: (line) => void this.lines.push(JSON.parse(line) as Record<string, unknown>) },
        level: () => 'info',
        format: 'json',
        redaction: new Redaction(() => []),
        onMessage() {},
      }),
      memoryOf: async () => {
        const { memory } = this;
        await this.looked;
        return memory;
      },
      memoryBound: BOUND,
      onReload: () => Promise.resolve({ ok: true, problems: ['as it was'] }),
      onReloadRefused() {},
      onAsk: ({ number }) => ({ number, grants: [], at: 0 }),
      onLogLevel() {},
      onQuit: () => (this.quits += 1),
    });
  }

  get current(): ScriptedDaemon {
    const daemon = this.daemons.at(-1);
    if (!daemon) throw new Error('no daemon was started');
    return daemon;
  }

  causes(): unknown[] {
    return this.lines.map(({ cause }) => cause);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a daemon that ends', () => {
  test('is started again, more slowly each time it lives shortly, and told how many there were', async () => {
    const scene = new Scene();
    for (const waitMs of [200, 400, 800, 1_600]) {
      const before = scene.daemons.length;
      scene.current.end('signal SIGSEGV');
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(scene.daemons).toHaveLength(before);
      await vi.advanceTimersByTimeAsync(1);
      expect(scene.daemons).toHaveLength(before + 1);
    }
    expect(scene.current.pid).toBe(104);
    expect(scene.lines).toMatchObject(
      [200, 400, 800, 1_600].map((restartInMs) => ({ level: 'error', cause: 'signal SIGSEGV', restartInMs })),
    );
    expect(scene.lines[0]?.['msg']).toContain('heartbeats go on');
  });

  test('never waits longer than half a minute, and after a long life hardly at all', async () => {
    const scene = new Scene();
    for (let count = 0; count < 12; count += 1) {
      scene.current.end('exit code 1');
      await vi.advanceTimersByTimeAsync(30_000);
    }
    expect(scene.daemons).toHaveLength(13);
    await vi.advanceTimersByTimeAsync(60_400);
    scene.current.end('exit code 1');
    await vi.advanceTimersByTimeAsync(100);
    expect(scene.daemons).toHaveLength(14);
    expect(scene.lines.at(-1)).toMatchObject({ livedSeconds: 60, restartInMs: 100 });
  });

  test('and one that cannot be forked, are tried again', async () => {
    const scene = new Scene();
    scene.failsToStart = true;
    scene.current.end('exit code 1');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(scene.daemons).toHaveLength(1);
    expect(scene.causes()).toContain('spawn EMFILE');
    scene.failsToStart = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(scene.daemons).toHaveLength(2);
  });
});

describe('a daemon that does not answer', () => {
  test('for two looks after its last answer is killed at the third, and replaced', async () => {
    const scene = new Scene();
    await vi.advanceTimersByTimeAsync(5_000);
    scene.current.takes = false;
    await vi.advanceTimersByTimeAsync(10_000);
    const last = scene.current.heard.findLast((message) => message.type === 'report');
    if (last) scene.current.say({ type: 'taken', number: last.report.number });
    await vi.advanceTimersByTimeAsync(18_000);
    expect(scene.daemons[0]?.killed).toBe(false);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(scene.daemons[0]?.killed).toBe(true);
    expect(scene.causes()).toEqual(['it did not answer for 10 s']);
    expect(scene.daemons).toHaveLength(2);
  });

  test('and has started late has its two looks from then on, and a minute while it starts', async () => {
    // On a busy machine: what it did not answer while it started is not held against it.
    const scene = new Scene((daemon) => {
      daemon.takes = false;
      daemon.say = () => {};
    });
    await vi.advanceTimersByTimeAsync(50_000);
    const { current } = scene;
    ScriptedDaemon.prototype.say.call(current, { type: 'started' });
    await vi.advanceTimersByTimeAsync(14_500);
    expect([current.killed, scene.daemons.length]).toEqual([false, 1]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([current.killed, scene.causes()]).toEqual([true, ['it did not answer for 10 s']]);
    await vi.advanceTimersByTimeAsync(58_000);
    expect(scene.daemons[1]?.killed).toBe(false);
    await vi.advanceTimersByTimeAsync(8_000);
    expect(scene.daemons[1]?.killed).toBe(true);
  });
});

test('a daemon that takes more than its memory is killed, and one that takes less is left alone', async () => {
  const scene = new Scene();
  scene.memory = BOUND;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(scene.current.killed).toBe(false);
  scene.memory = BOUND + MEBIBYTE;
  await vi.advanceTimersByTimeAsync(6_000);
  expect(scene.daemons[0]?.killed).toBe(true);
  expect(scene.causes()).toEqual(['it used 145 MiB of memory; its limit is 144 MiB']);
});

describe('the end', () => {
  test('is the daemon’s own, and no other is started', async () => {
    const scene = new Scene();
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(scene.supervisor.stop(2_000)).resolves.toBe(true);
    expect(scene.current.heard.at(-1)).toEqual({ type: 'stop', withinMs: 2_000 });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(scene.daemons).toHaveLength(1);
    expect(scene.lines).toEqual([]);
  });

  test('of one that does not obey comes when its time is over', async () => {
    const scene = new Scene((daemon) => (daemon.obeys = false));
    await vi.advanceTimersByTimeAsync(1_000);
    const stopped = scene.supervisor.stop(2_000);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(scene.current.killed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await stopped).toBe(false);
    expect(scene.current.killed).toBe(true);
  });

  test('of one that is done and cannot end, as a file hangs, is not waited for', async () => {
    const scene = new Scene((daemon) => (daemon.obeys = false));
    await vi.advanceTimersByTimeAsync(1_000);
    const stopped = scene.supervisor.stop(60_000);
    scene.current.say({ type: 'stopped' });
    await vi.advanceTimersByTimeAsync(500);
    expect(await stopped).toBe(true);
    expect(scene.current.killed).toBe(true);
  });

  test('of one that still starts comes at once, and of none too', async () => {
    const scene = new Scene((daemon) => (daemon.say = () => {}));
    await expect(scene.supervisor.stop(2_000)).resolves.toBe(true);
    expect(scene.current.killed).toBe(true);
    const other = new Scene();
    other.current.end('exit code 1');
    await vi.advanceTimersByTimeAsync(50);
    await expect(other.supervisor.stop(2_000)).resolves.toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(other.daemons).toHaveLength(1);
  });
});

test('a daemon leads a reload, asks for the end, and what a former one says is not heard', async () => {
  const scene = new Scene();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(scene.supervisor.reload()).toBe(true);
  expect(scene.current.heard.at(-1)).toEqual({ type: 'reload' });
  scene.current.say({ type: 'reload', number: 3 });
  await vi.advanceTimersByTimeAsync(10);
  const reloaded = { type: 'reloaded', number: 3, ok: true, problems: ['as it was'] };
  expect(scene.current.heard.at(-1)).toEqual(reloaded);
  const former = scene.current;
  former.end('exit code 1');
  await vi.advanceTimersByTimeAsync(1);
  expect(scene.supervisor.reload()).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  former.say({ type: 'quit' });
  await vi.advanceTimersByTimeAsync(1);
  expect(scene.quits).toBe(0);
  scene.current.say({ type: 'quit' });
  await vi.advanceTimersByTimeAsync(1);
  expect(scene.quits).toBe(1);
});

test('memory that is known too late, or not at all, ends nobody', async () => {
  const scene = new Scene();
  const { promise, resolve } = Promise.withResolvers<void>();
  [scene.memory, scene.looked] = [BOUND + MEBIBYTE, promise];
  await vi.advanceTimersByTimeAsync(5_000);
  scene.memory = undefined;
  scene.current.end('exit code 1');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(scene.daemons).toHaveLength(2);
  resolve();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(scene.current.killed).toBe(false);
  expect(scene.daemons).toHaveLength(2);
});

test('a reload that is asked for while a daemon starts is led by it when it has', async () => {
  const scene = new Scene();
  expect(scene.supervisor.reload()).toBe(false);
  expect(scene.current.heard).toEqual([]);
  await vi.advanceTimersByTimeAsync(10);
  expect(scene.current.heard.filter(({ type }) => type === 'reload')).toHaveLength(1);
  scene.current.say({ type: 'started' });
  await vi.advanceTimersByTimeAsync(10);
  expect(scene.current.heard.filter(({ type }) => type === 'reload')).toHaveLength(1);
});

test('the cause of one is not that of the next', async () => {
  const scene = new Scene();
  scene.memory = BOUND + MEBIBYTE;
  await vi.advanceTimersByTimeAsync(5_000);
  scene.memory = MEBIBYTE;
  await vi.advanceTimersByTimeAsync(1_000);
  scene.current.end('signal SIGSEGV');
  await vi.advanceTimersByTimeAsync(1);
  expect(scene.causes()).toEqual(['it used 145 MiB of memory; its limit is 144 MiB', 'signal SIGSEGV']);
});
