/**
 * The app of the demo, which its deployments are kept alive for: every so often it dies, and heartbeats
 * are withheld; then it comes back, and they resume in time.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delay } from '../../client/delay.ts';
import type { DeploymentStatus } from '../../daemon/status/schema.ts';
import type { Screen } from './screen.ts';

export interface AppReport {
  readonly deaths: number;
  /** Those after which all deployments were healthy again. */
  readonly survived: number;
}

export interface DemoApp extends AsyncDisposable {
  /** Where it says that it is well. */
  readonly url: string;
  /** One death after the other, until the signal fires; then it is back. */
  run(signal: AbortSignal): Promise<void>;
  /** What the daemon says of the deployments. */
  look(deployments: readonly Pick<DeploymentStatus, 'state'>[]): void;
  report(): AppReport;
}

/** As the second fault ends, so that all of it is over before the third, in ms. */
const FIRST_MS = 25_000;
/** Four faults later. */
const AGAIN_MS = 64_000;
/** How long it stays away once heartbeats are withheld, in ms. */
const AWAY_MS = 1_000;

export async function startDemoApp(screen: Screen, firstMs = FIRST_MS, awayMs = AWAY_MS): Promise<DemoApp> {
  /** Called with the next question, which finds it dead: from then on the grace runs. */
  let askedAtDeath: (() => void) | undefined;
  const server = createServer((_, response) => {
    if (askedAtDeath === undefined) return void response.end('well\n');
    response.destroy();
    askedAtDeath();
  });
  let isUp = false;
  let deaths = 0;
  let survived = 0;
  /** What is waited for, and who hears of it. */
  let awaited: { readonly states: readonly string[]; readonly seen: () => void } | undefined;

  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => {
      isUp = true;
      server.listen(port, '127.0.0.1', resolve);
    });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      isUp = false;
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;

  /** All deployments are in one of the states; rejects when the signal fires. */
  function allAre(states: readonly string[], signal: AbortSignal): Promise<void> {
    return until(signal, (seen) => {
      awaited = { states, seen };
    });
  }

  function until(signal: AbortSignal, wait: (resolve: () => void) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    wait(resolve);
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', end));
  }

  async function die(signal: AbortSignal): Promise<void> {
    await until(signal, (seen) => (askedAtDeath = seen)).finally(() => (askedAtDeath = undefined));
    deaths += 1;
    screen.event('app', 'dies: the heartbeats of its deployments will be withheld', 'warn');
    await close();
    await allAre(['withheld'], signal);
    await delay(awayMs, signal);
    await listen(port);
    screen.event('app', 'is back', 'warn');
    // One that was made anew under another id is gone, and stays so.
    await allAre(['healthy', 'gone'], signal);
    survived += 1;
  }

  return {
    url: `http://127.0.0.1:${port}/health`,
    async run(signal) {
      const startedAt = performance.now();
      try {
        for (let turn = 0; ; turn += 1) {
          await delay(Math.max(0, startedAt + firstMs + turn * AGAIN_MS - performance.now()), signal);
          await die(signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      if (!isUp) await listen(port);
    },
    look(deployments) {
      if (awaited === undefined || deployments.length === 0) return;
      const { states, seen } = awaited;
      if (deployments.every(({ state }) => states.includes(state))) seen();
    },
    report: () => ({ deaths, survived }),
    async [Symbol.asyncDispose]() {
      if (isUp) await close();
    },
  };
}
