/**
 * The heartbeats with everything they need of the process: clock, timers, connections of their own, the key. Runs
 * wherever it is opened: the program opens it in the process that `pilotlight run` is, a test in its own.
 */
import type { ApiKey } from '../client/api-key.ts';
import type { ClientObserver } from '../client/caller.ts';
import { createPartialClient } from '../client/partial-client.ts';
import { serverlessOperations } from '../contract/serverless.ts';
import { createBeatPort } from './beat.ts';
import { HeartbeatDriver, type DeploymentChoice } from './driver.ts';
import type { Notice } from './machine.ts';
import type { DeploymentView } from './view.ts';

/** What a heart tells as it happens. */
export interface HeartListener {
  notice(deploymentId: number, notice: Notice): void;
  exchange(event: ExchangeEvent): void;
  /** A deployment is not beaten any more. */
  removed(deploymentId: number): void;
}

/** One request that ended, as the client observes it. */
export type ExchangeEvent = Parameters<NonNullable<ClientObserver['exchange']>>[0];

export interface HeartOptions {
  /** `{base_url}` of the interface document. */
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly listener: HeartListener;
}

export interface Heart {
  /** Beats these and no others; one that is new beats at once unless it comes in a crowd. */
  keep(choices: readonly DeploymentChoice[]): void;
  /** The API key, or the file that it is read from, may have changed. */
  keyChanged(): Promise<void>;
  /** When the scheduler last looked at the clock, Unix ms: one whose time stands still is wedged. */
  lastTickAt(): number;
  deploymentIds(): Iterable<number>;
  view(deploymentId: number): DeploymentView | undefined;
  openConnections(): number;
  /** What `lastBeats` takes at most where the service is well, ms. */
  lastBeatsTakeMs(): number;
  /** One last heartbeat for every deployment. The ids that were not reached within `limitMs`, or sooner. */
  lastBeats(limitMs: number): Promise<number[]>;
  /** When it resolves, no request, timer or socket is left. */
  stop(): Promise<void>;
}

const OPERATIONS = {
  'deployments.heartbeat': serverlessOperations['deployments.heartbeat'],
  'deployments.get': serverlessOperations['deployments.get'],
};

export function openHeart({ apiKey, listener, baseUrl }: HeartOptions): Heart {
  const client = createPartialClient(OPERATIONS, {
    baseUrl,
    apiKey: () => apiKey.current(),
    observe: { exchange: (event) => listener.exchange(event) },
  });
  const beat = createBeatPort(client);
  const kept = new Set<number>();
  let lastTickAt = Date.now();
  const driver = new HeartbeatDriver({
    key: apiKey.current(),
    ports: {
      clock: { mono: () => performance.now(), wall: Date.now },
      random: Math.random,
      setTimer(ms, fn) {
        const timer = setTimeout(() => {
          lastTickAt = Date.now();
          fn();
        }, ms);
        return () => clearTimeout(timer);
      },
      // Without a key, because its file is not there yet, the key is what is wrong, and is looked for.
      beat: (request) => (request.key === '' ? Promise.resolve({ type: 'unauthorized' }) : beat(request)),
      readKey: (signal) => apiKey.reread(signal),
      listener: (deploymentId, notice) => listener.notice(deploymentId, notice),
    },
  });
  return {
    keep(choices) {
      const wanted = new Set(choices.map(({ id }) => id));
      for (const id of kept) {
        if (wanted.has(id)) continue;
        kept.delete(id);
        driver.remove(id);
        listener.removed(id);
      }
      for (const choice of choices) {
        kept.add(choice.id);
        driver.add(choice);
      }
    },
    keyChanged: () => driver.readKey(),
    lastTickAt: () => lastTickAt,
    deploymentIds: () => kept,
    view: (deploymentId) => driver.viewOf(deploymentId),
    openConnections: () => 0,
    lastBeatsTakeMs: () => driver.finalBeatMs(),
    lastBeats: (limitMs) => driver.finalBeat(AbortSignal.timeout(Math.max(0, Math.floor(limitMs)))),
    async stop() {
      await driver.stop();
      await client[Symbol.asyncDispose]();
    },
  };
}
