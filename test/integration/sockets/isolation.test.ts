import { Session } from 'node:inspector';
import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../../src/client/api-key.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { columnOf } from '../../../src/heartbeat/figures.ts';
import type { Heart, HeartListener } from '../../../src/heartbeat/heart.ts';
import { openIsolatedHeart } from '../../../src/heartbeat/isolation/isolated-heart.ts';
import { beginHeartbeats, tickTime, type Beating } from '../../../src/heartbeat/isolation/thread.ts';
import { startTestDaemon, until } from '../../support/daemon.ts';
import { startPilotlight } from '../../support/process.ts';

const STALL_MS = 5_000;
const TTL_S = 10;
const STATES_TOLD = ['healthy'];

interface BeatEntry {
  readonly atMs: number;
}

/** When each heartbeat of deployment 42 arrived, by the emulator's journal, Unix ms. */
async function arrivals(url: string): Promise<number[]> {
  const response = await fetch(`${url}/_emulator/journal?operation=deployments.heartbeat`);
  const { entries } = (await response.json()) as { entries: BeatEntry[] };
  return entries.map(({ atMs }) => atMs);
}

describe('heartbeats are isolated from the rest of the process', () => {
  test('log handling that stalls the event loop for 5 s holds none up', { timeout: 60_000 }, async () => {
    // A process of its own, for this one is going to be stalled.
    await using service = startPilotlight(['emulator', '--port', '0']);
    const [, url = '', apiKey = ''] = await service.seen(/listening on (\S+) \(API key: ([^;)]+)/);
    let stalled: { from: number; to: number } | undefined;
    await using daemon = await startTestDaemon(
      { API_KEY: apiKey, BASE_URL: url, DEPLOYMENTS: `42@${TTL_S}s`, WORKER_GROUPS: '7' },
      {
        onOutput() {
          if (stalled) return;
          const from = Date.now();
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
          stalled = { from, to: Date.now() };
        },
      },
    );
    await until(() => stalled !== undefined);
    await until(async () => (await arrivals(url)).some((at) => at > (stalled?.to ?? Infinity)));
    const { from, to } = stalled ?? { from: 0, to: 0 };
    expect(to - from).toBeGreaterThanOrEqual(STALL_MS - 100);
    const within = (await arrivals(url)).filter((at) => at >= from && at <= to);
    // I = T/5 = 2 s at most.
    expect(within.length).toBeGreaterThanOrEqual(2);
    // What is late by this much would have been held up by the stall; the figure itself is measured by the bench.
    const late = /^pilotlight_heartbeat_scheduling_lag_seconds_bucket\{le="1"\} (\d+)$/m;
    const sent = /^pilotlight_heartbeat_scheduling_lag_seconds_count (\d+)$/m;
    const text = await daemon.metrics();
    expect(Number(late.exec(text)?.[1])).toBeGreaterThan(2);
    expect(late.exec(text)?.[1]).toBe(sent.exec(text)?.[1]);
  });

  test('a thread that ends is replaced, and the deployments notice nothing', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    const crashes: string[] = [];
    const states: string[] = [];
    const heart = open(emulator.url, emulator.apiKey, {
      crashed: (error) => crashes.push(error.message),
      notice: (_, notice) => notice.type === 'state' && states.push(notice.to),
    });
    await using _stop = { [Symbol.asyncDispose]: () => heart.stop() };
    heart.add({ id: 42, ttl: TTL_S * 1000, interval: 'auto' });
    await until(() => states.length === 1);
    const before = emulator.deployments.get(42).beats;
    await inOtherThreads('setTimeout(() => { throw new Error("struck down") })');
    await until(() => states.length === 2);
    expect(crashes).toEqual(['struck down']);
    expect(states).toEqual([...STATES_TOLD, ...STATES_TOLD]);
    expect(emulator.deployments.get(42).beats).toBeGreaterThan(before);
    expect(await heart.view()).toMatchObject([{ deploymentId: 42, state: 'healthy' }]);
    expect(emulator.deployments.get(42).expired).toBe(false);
  });

  test('a thread that beat before anyone listened tells all of it afterwards', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    const choice = { id: 42, ttl: TTL_S * 1000, interval: 'auto' } as const;
    const beating = beginHeartbeats({
      baseUrl: emulator.url,
      key: emulator.apiKey,
      keyFile: undefined,
      deployments: [choice],
      lastTickAt: tickTime(),
    });
    await until(() => emulator.deployments.get(42).beats > 1);
    const accepted: number[] = [];
    const heart = open(
      emulator.url,
      emulator.apiKey,
      { notice: (id, { type }) => type === 'accepted' && accepted.push(id) },
      beating,
    );
    await using _stop = { [Symbol.asyncDispose]: () => heart.stop() };
    heart.add(choice);
    await until(() => accepted.length >= emulator.deployments.get(42).beats);
    expect(await heart.view()).toMatchObject([{ deploymentId: 42, state: 'healthy' }]);
    heart.remove(42);
    expect(accepted).toHaveLength(emulator.deployments.get(42).beats);
  });

  test('a thread that ended before anyone listened is replaced', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    const beating = beginHeartbeats({
      baseUrl: emulator.url,
      key: emulator.apiKey,
      keyFile: undefined,
      deployments: [{ id: 42, ttl: TTL_S * 1000, interval: 'auto' }],
      lastTickAt: tickTime(),
    });
    await beating.worker.terminate();
    const crashes: string[] = [];
    const heart = open(
      emulator.url,
      emulator.apiKey,
      { crashed: (error) => crashes.push(error.message) },
      beating,
    );
    await using _stop = { [Symbol.asyncDispose]: () => heart.stop() };
    await until(() => emulator.deployments.get(42).beats > 0);
    expect(crashes).toEqual([expect.stringMatching(/^it exited with code \d$/)]);
  });

  test('a thread that does not answer keeps nobody waiting, and stop() ends it', async () => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    const heart = open(emulator.url, emulator.apiKey, {});
    heart.add({ id: 42, ttl: TTL_S * 1000, interval: 'auto' });
    await until(() => emulator.deployments.get(42).beats > 0);
    const [known] = await heart.view();
    const figures = await heart.figures();
    expect(figures[columnOf('attempts')]).toBeGreaterThan(0);
    await inOtherThreads('setTimeout(() => { for (;;); })');
    // The scheduler looks at the clock every T/60, until the thread is in the loop.
    await until(() => Date.now() - heart.lastTickAt() > 1_000);
    expect(await heart.view()).toMatchObject([{ deploymentId: known?.deploymentId }]);
    expect(await heart.figures()).toEqual(figures);
    const tick = heart.lastTickAt();
    expect(await heart.finalBeat(100)).toEqual([42]);
    expect(heart.lastTickAt()).toBe(tick);
    await heart.stop();
  });
});

function open(baseUrl: string, key: string, listener: Partial<HeartListener>, begun?: Beating): Heart {
  const options = {
    baseUrl,
    apiKey: createApiKey(key, undefined),
    listener: { notice() {}, exchange() {}, crashed() {}, missed() {}, ...listener },
  };
  return openIsolatedHeart(options, begun);
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
