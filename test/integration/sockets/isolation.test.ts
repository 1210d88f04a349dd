import { Session } from 'node:inspector';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../../src/client/api-key.ts';
import { keepDaemon, type Keeper } from '../../../src/daemon/keeper.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import type { DeploymentChoice } from '../../../src/heartbeat/driver.ts';
import { columnOf } from '../../../src/heartbeat/figures.ts';
import type { Heart, HeartListener } from '../../../src/heartbeat/heart.ts';
import { hostHeart, type HeartHost } from '../../../src/heartbeat/isolation/host.ts';
import { openIsolatedHeart } from '../../../src/heartbeat/isolation/isolated-heart.ts';
import type { HeartLink } from '../../../src/heartbeat/isolation/protocol.ts';
import { until } from '../../support/daemon.ts';
import { freePort } from '../../support/ports.ts';

const STALL_MS = 5_000;
const TTL_S = 10;
const CHOICE = { id: 42, ttl: TTL_S * 1000, interval: 'auto' } as const;
const SETTINGS = { finalHeartbeat: true, shutdownTimeout: 3_000 };

describe('a daemon in a thread beside its heartbeats', () => {
  test('a stall of 5 s holds no heartbeat up', { timeout: 60_000 }, async () => {
    await using running = await run();
    const { url, arrivals } = running;
    await inOtherThreads(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${STALL_MS})`);
    const to = Date.now();
    const from = to - STALL_MS;
    await until(() => arrivals().some((at) => at > to));
    // I = T/5 = 2 s at most.
    expect(arrivals().filter((at) => at >= from && at <= to).length).toBeGreaterThanOrEqual(2);
    // What is late by this much would have been held up by the stall; the figure itself is measured by the bench.
    const late = /^pilotlight_heartbeat_scheduling_lag_seconds_bucket\{le="1"\} (\d+)$/m;
    const sent = /^pilotlight_heartbeat_scheduling_lag_seconds_count (\d+)$/m;
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(Number(late.exec(text)?.[1])).toBeGreaterThan(2);
    expect(late.exec(text)?.[1]).toBe(sent.exec(text)?.[1]);
  });

  test('one that ends is replaced, and the deployments notice nothing', async () => {
    await using running = await run();
    const { url, emulator } = running;
    const before = await deployment(url);
    await inOtherThreads('setTimeout(() => process.exit(7))');
    await until(async () => !(await answers(url)));
    await until(() => answers(url));
    const after = await deployment(url);
    // The same heart: it goes on counting, and the new daemon knows what the old one did.
    expect(after['heartbeats']).toBeGreaterThanOrEqual(Number(before['heartbeats']));
    expect(after['beats']).toEqual(expect.arrayContaining(before['beats'] as unknown[]));
    expect(after['state']).toBe('healthy');
    expect(emulator.deployments.get(42).expired).toBe(false);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'pilotlight_log_messages_total{level="fatal"} 1',
    );
  });

  test('one that cannot start again is tried until it can', { timeout: 30_000 }, async () => {
    await using running = await run();
    const { url, emulator, sentences } = running;
    const port = Number(new URL(url).port);
    const { beats } = emulator.deployments.get(42);
    await inOtherThreads('setTimeout(() => process.exit(7))');
    await until(async () => !(await answers(url)));
    {
      await using _inTheWay = await startEmulator({ port });
      await until(() => sentences.some((sentence) => sentence.includes('EADDRINUSE')));
      await until(() => emulator.deployments.get(42).beats > beats);
    }
    await until(() => answers(url));
    expect(await deployment(url)).toMatchObject({ state: 'healthy' });
  });

  test.each([
    ['is stuck', 'setTimeout(() => { for (;;); })'],
    [
      'gets stuck while it stops',
      "process.getBuiltinModule('worker_threads').parentPort.on('message', () => { for (;;); })",
    ],
  ])('one that %s is given up, and the last heartbeats leave all the same', async (_how, expression) => {
    // I = T/5 = 12 s: no other heartbeat leaves meanwhile.
    await using running = await run({ ...CHOICE, ttl: 60_000 });
    const { url, emulator, keeper, arrivals } = running;
    // One that left less than a second ago would be the last one itself.
    await until(() => Date.now() - (emulator.deployments.get(42).lastHeartbeatMs ?? Infinity) > 1_200);
    await inOtherThreads(expression);
    // Until it is stuck, it would hear that it shall stop.
    await Promise.race([answers(url), delay(500)]);
    await delay(100);
    const toldAt = Date.now();
    expect(await keeper.stop()).toBe(false);
    expect(Date.now() - toldAt).toBeLessThan(SETTINGS.shutdownTimeout + 2_000);
    const late = arrivals()
      .map((at) => at - toldAt)
      .filter((ms) => ms > 0);
    // Not only when the time for the whole end is over.
    expect(late).toEqual([expect.toSatisfy((ms: number) => ms < SETTINGS.shutdownTimeout + 500)]);
  });

  test('one that stops by itself says so', async () => {
    await using running = await run();
    expect(await running.keeper.stop()).toBe(true);
  });

  test('the first that cannot start is the end', async () => {
    await using emulator = await startEmulator();
    await using running = begin(emulator, CHOICE, {
      PILOTLIGHT_LISTEN: `127.0.0.1:${emulator.port}`,
    });
    await expect(running.keeper.failed).rejects.toThrow('EADDRINUSE');
  });
});

describe('a heart that is seen from another thread', () => {
  test('tells all that happened before anyone listened, and after someone left', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    const host = hosted(emulator);
    await using _stop = { [Symbol.asyncDispose]: () => host.stop() };
    await until(() => emulator.deployments.get(42).beats > 1);
    const accepted: number[] = [];
    const told = {
      notice: (id, { type }) => type === 'accepted' && accepted.push(id),
    } satisfies Partial<HeartListener>;
    const first = open(host.link(), emulator, told);
    expect(first.choices()).toEqual([CHOICE]);
    await until(() => accepted.length >= emulator.deployments.get(42).beats);
    expect(await first.view()).toMatchObject([{ deploymentId: 42, state: 'healthy' }]);
    await first.stop();
    const { beats } = emulator.deployments.get(42);
    await until(() => emulator.deployments.get(42).beats > beats);
    const second = open(host.link(), emulator, told);
    await until(() => accepted.length >= emulator.deployments.get(42).beats);
    second.remove(42);
    expect(await second.view()).toEqual([]);
    expect(accepted).toHaveLength(emulator.deployments.get(42).beats);
  });

  test('keeps nobody waiting when it does not answer', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    const host = hosted(emulator);
    await using _stop = { [Symbol.asyncDispose]: () => host.stop() };
    await host.firstExchange;
    const link = host.link();
    const heart = open(link, emulator);
    const [known] = await heart.view();
    const figures = await heart.figures();
    expect(figures[columnOf('attempts')]).toBeGreaterThan(0);
    // From here on this link's other end is gone.
    host.link();
    expect(await heart.view()).toMatchObject([{ deploymentId: known?.deploymentId }]);
    expect(await heart.figures()).toEqual(figures);
    expect(await heart.finalBeat(100)).toEqual([42]);
  });

  test('a TTL that was learned is known to the daemon that comes next', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    const host = hosted(emulator);
    await using _stop = { [Symbol.asyncDispose]: () => host.stop() };
    const first = open(host.link(), emulator);
    first.add({ ...CHOICE, ttl: 20_000 });
    await first.view();
    expect(open(host.link(), emulator).choices()).toEqual([{ ...CHOICE, ttl: 20_000 }]);
  });
});

interface Running extends AsyncDisposable {
  readonly keeper: Keeper;
  readonly host: HeartHost;
  readonly emulator: Emulator;
  readonly url: string;
  /** When each heartbeat of deployment 42 arrived, Unix ms. */
  readonly arrivals: () => number[];
  readonly sentences: readonly string[];
}

/** The main thread of `pilotlight run` is this one; resolves when its daemon answers. */
async function run(choice: DeploymentChoice = CHOICE): Promise<Running> {
  const ttl = (choice.ttl ?? 0) / 1000;
  const emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl }] } });
  const url = `http://127.0.0.1:${await freePort()}`;
  const begun = begin(emulator, choice, { PILOTLIGHT_LISTEN: new URL(url).host });
  await until(() => answers(url));
  return {
    ...begun,
    emulator,
    url,
    arrivals: () => emulator.journal.entries({ operation: 'deployments.heartbeat' }).map(({ atMs }) => atMs),
    async [Symbol.asyncDispose]() {
      await begun[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}

function begin(emulator: Emulator, choice: DeploymentChoice, environment: Record<string, string>) {
  const host = hosted(emulator, choice);
  const sentences: string[] = [];
  const keeper = keepDaemon({
    heart: host,
    settings: SETTINGS,
    onQuit() {},
    say: (sentence) => sentences.push(sentence),
    environment: {
      ...process.env,
      PILOTLIGHT_API_KEY: emulator.apiKey,
      PILOTLIGHT_BASE_URL: emulator.url,
      PILOTLIGHT_DEPLOYMENTS: `42@${choice.ttl}ms`,
      PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
      // This process' stderr is the test runner's.
      PILOTLIGHT_LOG_LEVEL: 'fatal',
      ...environment,
    },
  });
  keeper.failed.catch(() => {});
  return {
    keeper,
    host,
    sentences,
    async [Symbol.asyncDispose]() {
      await keeper.stop();
      await host.stop();
    },
  };
}

function hosted(emulator: Emulator, choice: DeploymentChoice = CHOICE): HeartHost {
  return hostHeart({
    baseUrl: emulator.url,
    key: emulator.apiKey,
    keyFile: undefined,
    deployments: [choice],
  });
}

function open(link: HeartLink, emulator: Emulator, listener: Partial<HeartListener> = {}): Heart {
  return openIsolatedHeart(link, {
    baseUrl: emulator.url,
    apiKey: createApiKey(emulator.apiKey, undefined),
    listener: { notice() {}, exchange() {}, missed() {}, ...listener },
  });
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function deployment(url: string): Promise<Record<string, unknown>> {
  const status = (await (await fetch(`${url}/api/status`)).json()) as {
    deployments: Record<string, unknown>[];
  };
  return status.deployments[0] ?? {};
}

/** Runs `expression` in every worker thread of this process, over the debugger's protocol: no hook in the code. */
async function inOtherThreads(expression: string): Promise<void> {
  const session = new Session();
  session.connect();
  const ran = new Map<string, PromiseWithResolvers<void>>();
  session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
    if ((JSON.parse(message) as { id?: number }).id === 1) ran.get(sessionId)?.resolve();
  });
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
    ran.set(sessionId, Promise.withResolvers());
    const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
  });
  // Answered once it has told of all threads that there are.
  await new Promise<void>((resolve) =>
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, () => resolve()),
  );
  expect(ran.size).toBeGreaterThan(0);
  await Promise.all(Array.from(ran.values(), ({ promise }) => promise));
  session.disconnect();
}
