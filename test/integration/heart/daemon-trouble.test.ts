/**
 * Whatever happens to the daemon, each heartbeat leaves when it is due: shown by the service's own books, beside an
 * undisturbed twin of the same program on the same machine at the same time.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { daemonPid, startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { root } from '../../support/optional.ts';
import { freePort } from '../../support/ports.ts';
import { startPilotlight } from '../../support/process.ts';
import { prefixed } from '../../support/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TTL_S = 20;
/** I of the engine for this TTL, ms. */
const INTERVAL_MS = 4_000;
const DISTURBED = 42;
/** Further ones have the numbers after it. */
const TWIN = 43;

const seed = { deployments: [{ id: DISTURBED, ttl: TTL_S }] };

function settings(emulator: Emulator, id: number, more: Record<string, string> = {}): Record<string, string> {
  return { ...serviceOf(emulator), DEPLOYMENTS: `${id}@${TTL_S}s`, ...more };
}

/** When the heartbeats of one deployment arrived, by the service's own journal. */
function arrivals(emulator: Emulator, id: number): readonly number[] {
  return emulator.journal.entries({ operation: 'deployments.heartbeat', id }).map(({ atMs }) => atMs);
}

/** The longest time between two of them of which the later one is after `since`, ms. */
function longestGap(all: readonly number[], since = 0): number {
  return Math.max(...all.slice(1).map((at, index) => (at > since ? at - (all[index] ?? at) : 0)));
}

/** No beat was missed: none came an interval later than those of the twin meanwhile, or than it is due. */
function expectNoneMissed(emulator: Emulator, id: number): void {
  expect(emulator.deployments.get(id).lapses).toBe(0);
  const own = arrivals(emulator, id);
  const usual = Math.max(longestGap(arrivals(emulator, TWIN), own[0]), INTERVAL_MS);
  expect(longestGap(own)).toBeLessThan(usual + INTERVAL_MS);
}

/** Lets the service take so many more beats of both. */
async function beatOn(emulator: Emulator, id: number, more: number): Promise<void> {
  const wanted = [id, TWIN].map((each) => [each, emulator.deployments.get(each).beats + more] as const);
  await until(() => wanted.every(([each, beats]) => emulator.deployments.get(each).beats >= beats));
}

/** A program whose daemon has started, and now meets trouble by itself, once. */
async function startTroubled(
  own: Record<string, string>,
  folder: string,
  trouble: string,
): Promise<DaemonProcess> {
  const file = join(folder, 'now');
  const program = await startDaemonProcess(own, {
    NODE_OPTIONS: `--import ${root}test/support/daemon-trouble.js`,
    TROUBLE: trouble,
    TROUBLE_FILE: file,
  });
  writeFileSync(file, '');
  return program;
}

describe('the heart goes on, and the daemon is started again, when the daemon', () => {
  let emulator: Emulator;
  let twin: DaemonProcess;
  let lastId = TWIN;
  beforeAll(async () => {
    emulator = await startEmulator({ seed: { deployments: [{ id: TWIN, ttl: TTL_S }] } });
    twin = await startDaemonProcess(settings(emulator, TWIN));
  });
  afterAll(async () => {
    await twin[Symbol.asyncDispose]();
    await emulator.close();
  });

  /** A deployment for one test, and how its program is configured. */
  function disturbed() {
    const id = (lastId += 1);
    emulator.deployments.add({ id, ttl: TTL_S });
    return { id, own: settings(emulator, id) };
  }

  test.concurrent.each(['SIGKILL', 'SIGSTOP'] as const)('gets %s', async (signal) => {
    const { id, own } = disturbed();
    await using program = await startDaemonProcess(own);
    const first = program.daemonPid();
    process.kill(first, signal);
    await program.seen(/the daemon ended and is restarted/);
    await program.seen(/pilotlight started[\s\S]*pilotlight started/);
    await beatOn(emulator, id, 2);
    expectNoneMissed(emulator, id);
    expect(program.daemonPid()).not.toBe(first);
  });

  async function meets(trouble: string): Promise<void> {
    using folder = temporaryFolder();
    const { id, own } = disturbed();
    await using program = await startTroubled(own, folder.path, trouble);
    await program.seen(/the daemon ended and is restarted[\s\S]*pilotlight started/);
    await beatOn(emulator, id, 2);
    expectNoneMissed(emulator, id);
  }

  test.concurrent('throws what no clone can hold: it is said, and nothing ends until the heart is killed', async () => {
    using folder = temporaryFolder();
    const { id, own } = disturbed();
    await using program = await startTroubled(own, folder.path, 'throw');
    await program.seen(/a fault that ends nothing.*please report this/);
    const metrics = await (await fetch(`${program.url}/metrics`)).text();
    expect(metrics).toMatch(/^pilotlight_daemon_restarts_total 0$/m);
    await beatOn(emulator, id, 2);
    expectNoneMissed(emulator, id);
    const pid = daemonPid(program);
    program.child.kill('SIGKILL');
    await until(() => !existsSync(`/proc/${pid}`));
  });

  // One after the other: the daemon of each takes all it can get. One that spins is as silent as one that is stopped.
  test.each(['spin', 'resident memory', 'heap memory'])('meets trouble by itself: %s', meets);
});

test.concurrent('a port that is taken is said, tried again, and taken once it is free; a Ctrl-C that reaches both ends them in order', async () => {
  await using emulator = await startEmulator({ seed });
  const inTheWay = await startEmulator({ port: await freePort() });
  const own = settings(emulator, DISTURBED, {
    LISTEN: `127.0.0.1:${inTheWay.port}`,
    ADMIN_LISTEN: '127.0.0.1:0',
    WORKER_GROUPS: '7',
  });
  await using program = startPilotlight(['run'], prefixed(own));
  await program.seen(/metrics and status page: cannot listen; it is tried again/);
  await until(() => emulator.deployments.get(DISTURBED).beats >= 3);
  await inTheWay.close();
  await program.seen(/metrics and status page: listening now/);
  expect((await fetch(`${inTheWay.url}/readyz`)).status).toBe(200);
  await until(() => program.stdout().includes('"workergroup_id":7'));
  process.kill(daemonPid(program), 'SIGINT');
  program.child.kill('SIGINT');
  expect(await program.exit).toBe(0);
  expect(program.stderr()).toMatch(/"draining"[\s\S]*"stopped"[\s\S]*"heartbeats ended"/);
});

describe.concurrent('the end comes with one last heartbeat', () => {
  /** Longer than any machine takes to start the program, since nothing keeps it alive meanwhile. */
  const ttl = 300;
  const begin = () => startEmulator({ seed: { deployments: [{ id: DISTURBED, ttl }] } });
  const own = (emulator: Emulator) =>
    settings(emulator, DISTURBED, { DEPLOYMENTS: `${DISTURBED}@${ttl}s`, SHUTDOWN_TIMEOUT: '3s' });

  async function endsWithOneMore(emulator: Emulator, program: DaemonProcess, signal: NodeJS.Signals) {
    // A heartbeat of less than a second ago counts as the last one. The interval is a minute.
    await until(() => {
      const { beats, lastHeartbeatMs } = emulator.deployments.get(DISTURBED);
      return beats > 0 && Date.now() - (lastHeartbeatMs ?? Infinity) > 1_500;
    });
    const { beats } = emulator.deployments.get(DISTURBED);
    process.kill(program.daemonPid(), signal);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expect(emulator.deployments.get(DISTURBED).beats).toBe(beats + 1);
  }

  test('though the daemon is just killed', async () => {
    await using emulator = await begin();
    await using program = await startDaemonProcess(own(emulator));
    await endsWithOneMore(emulator, program, 'SIGKILL');
  });

  test('though the daemon is stopped; and before it, a file of the key that is not there yet is waited for', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'key');
    await using emulator = await begin();
    const { API_KEY: key = '', ...rest } = own(emulator);
    await using program = await startDaemonProcess({ ...rest, API_KEY_FILE: file });
    await program.seen(/PILOTLIGHT_API_KEY_FILE.*configuration problem/);
    writeFileSync(file, key);
    await endsWithOneMore(emulator, program, 'SIGSTOP');
  });
});
