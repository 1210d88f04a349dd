/**
 * The heartbeats with everything they need of the process: clock, timers, connections of their own, the key. Runs
 * wherever it is opened; the program opens it in its main thread and runs the rest of the daemon in another
 * (isolation/).
 */
import type { ApiKey } from '../client/api-key.ts';
import type { ClientObserver } from '../client/caller.ts';
import { createPartialClient } from '../client/partial-client.ts';
import { serverlessOperations } from '../contract/serverless.ts';
import { createBeatPort } from './beat.ts';
import { HeartbeatDriver, type DeploymentChoice } from './driver.ts';
import { figuresOf, type DeploymentFigures } from './figures.ts';
import type { Notice } from './machine.ts';
import type { DeploymentView } from './view.ts';

export interface Heart {
  /** Adds a deployment, which beats at once unless it comes in a crowd, or changes the timing of one that is there. */
  add(choice: DeploymentChoice): void;
  /** Stops one deployment's heartbeat and forgets it. */
  remove(deploymentId: number): void;
  /** Those that beat, with their timing: none at first, unless they began before this heart was looked at. */
  choices(): readonly DeploymentChoice[];
  /** The API key, or the file that it is read from, may have changed. */
  keyChanged(): Promise<void>;
  /** When the scheduler last looked at the clock, Unix ms: one whose time stands still is wedged. */
  lastTickAt(): number;
  /** For people. */
  view(): Promise<readonly DeploymentView[]>;
  /** For the metrics: the numbers of the view. */
  figures(): Promise<DeploymentFigures>;
  /** One last heartbeat for every deployment. The ids that were not reached within `limitMs`, or sooner. */
  finalBeat(limitMs: number): Promise<number[]>;
  /** When it resolves, no request, timer or socket of this thread is left. */
  stop(): Promise<void>;
}

/** What a heart tells as it happens. */
export interface HeartListener {
  /** `at`: when it happened, Unix ms; it may be told later. */
  notice(deploymentId: number, notice: Notice, at: number): void;
  exchange(event: ExchangeEvent): void;
  /** So many events were not told, because this thread did not take them for too long. */
  missed(events: number): void;
}

/** One request that ended, as the client observes it. */
export type ExchangeEvent = Parameters<NonNullable<ClientObserver['exchange']>>[0];

export interface HeartOptions {
  /** `{base_url}` of the interface document. */
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly listener: HeartListener;
}

export type OpenHeart = (options: HeartOptions) => Heart;

/** A heart in this thread. */
export interface LocalHeart extends Heart {
  /** Each deployment as it is when it is asked for. */
  views(): Iterable<DeploymentView>;
}

const OPERATIONS = { 'deployments.heartbeat': serverlessOperations['deployments.heartbeat'] };

/** In this thread. `onTick` hears the time, Unix ms, whenever the scheduler looks at it. */
export function openHeart(options: HeartOptions, onTick: (at: number) => void = () => {}): LocalHeart {
  const { apiKey, listener, baseUrl } = options;
  const client = createPartialClient(OPERATIONS, {
    baseUrl,
    apiKey: () => apiKey.current(),
    observe: { exchange: (event) => listener.exchange(event) },
  });
  const choices = new Map<number, DeploymentChoice>();
  let lastTickAt = Date.now();
  const driver = new HeartbeatDriver({
    key: apiKey.current(),
    ports: {
      clock: { mono: () => performance.now(), wall: Date.now },
      random: Math.random,
      setTimer(ms, fn) {
        const timer = setTimeout(() => {
          lastTickAt = Date.now();
          onTick(lastTickAt);
          fn();
        }, ms);
        return () => clearTimeout(timer);
      },
      beat: createBeatPort(client),
      readKey: (signal) => apiKey.reread(signal),
      listener: (deploymentId, notice) => listener.notice(deploymentId, notice, Date.now()),
    },
  });
  return {
    add(choice) {
      choices.set(choice.id, choice);
      driver.add(choice);
    },
    remove(deploymentId) {
      choices.delete(deploymentId);
      driver.remove(deploymentId);
    },
    choices: () => [...choices.values()],
    keyChanged: () => driver.readKey(),
    lastTickAt: () => lastTickAt,
    views: () => driver.views(),
    view: () => Promise.resolve([...driver.views()]),
    figures: () => Promise.resolve(figuresOf([...driver.views()])),
    finalBeat: (limitMs) => driver.finalBeat(AbortSignal.timeout(limitMs)),
    async stop() {
      await driver.stop();
      await client[Symbol.asyncDispose]();
    },
  };
}
