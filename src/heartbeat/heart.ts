/**
 * The heartbeats with everything they need of the process: clock, timers, connections of their own, the key. Runs
 * wherever it is opened: the program opens it in the process that `pilotlight run` is, a test in its own.
 */
import type { ApiKey } from '../client/api-key.ts';
import type { ClientObserver } from '../client/caller.ts';
import { createTransport } from '../client/transport.ts';
import { createPartialClient } from '../client/partial-client.ts';
import { serverlessOperations } from '../contract/operations/serverless.ts';
import { createBeatPort } from './driver/beat.ts';
import type { Remark } from './discovery/findings.ts';
import type { TimingSettings } from './discovery/resolve.ts';
import type { Wanted } from './discovery/wanted.ts';
import { watchDeployments } from './discovery/watch.ts';
import { HeartbeatDriver, type DeploymentChoice } from './driver/driver.ts';
import type { Notice } from './engine/state.ts';
import type { DeploymentView, SharedLimit } from './view/view.ts';

/** What a heart tells as it happens. */
export interface HeartListener {
  notice(deploymentId: number, notice: Notice): void;
  exchange(event: ExchangeEvent): void;
  /** A deployment is not beaten any more. */
  removed(deploymentId: number): void;
  /** Something to know of TTLs and names. */
  remark(remark: Remark): void;
  /** The key could not be read again; the old one stays. */
  keyUnreadable(why: string): void;
}

/** One request that ended, as the client observes it. */
export type ExchangeEvent = Parameters<NonNullable<ClientObserver['exchange']>>[0];

export interface HeartOptions {
  /** `{base_url}` of the interface document. */
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly listener: HeartListener;
  /** One that is wanted by id beats at once, unless it comes in a crowd; one by name as soon as the name is known. */
  readonly deployments: readonly Wanted[];
  readonly settings: TimingSettings;
  /** How many attempts may be under way, overdue ones included: each has an open file. Default 512. */
  readonly attemptsAtOnce?: number;
}

/** The operations that the heart calls, and nobody else's schemas. */
const OPERATIONS = {
  'deployments.heartbeat': serverlessOperations['deployments.heartbeat'],
  'deployments.get': serverlessOperations['deployments.get'],
  'deployments.list': serverlessOperations['deployments.list'],
};

export interface Heart {
  /** Keeps these and no others; what was gone is asked for at once. */
  reload(deployments: readonly Wanted[], settings: TimingSettings): void;
  /** The API key, or the file that it is read from, may have changed. */
  keyChanged(): Promise<void>;
  /** When the scheduler last looked at the clock, Unix ms: one whose time stands still is wedged. */
  lastTickAt(): number;
  deploymentIds(): Iterable<number>;
  view(deploymentId: number): DeploymentView | undefined;
  openConnections(): number;
  /** The rate limit that all deployments share, and whether they fit under it; undefined where none was found. */
  sharedLimit(): SharedLimit | undefined;
  /** What `lastBeats` takes at most where the service is well, ms. */
  lastBeatsTakeMs(): number;
  /** One last heartbeat for every deployment. The ids that were not reached within `limitMs`, or sooner. */
  lastBeats(limitMs: number): Promise<number[]>;
  /** When it resolves, no request, timer or socket is left. */
  stop(): Promise<void>;
}

export function openHeart(options: HeartOptions): Heart {
  const { apiKey, listener, baseUrl, deployments, settings, attemptsAtOnce = 512 } = options;
  const transport = createTransport();
  const client = createPartialClient(OPERATIONS, {
    transport,
    baseUrl,
    apiKey: () => apiKey.current(),
    observe: { exchange: (event) => listener.exchange(event) },
  });
  const beat = createBeatPort(client);
  const kept = new Set<number>();
  const stopping = new AbortController();
  let lastTickAt = Date.now();
  const ports = {
    clock: { mono: () => performance.now(), wall: Date.now },
    random: Math.random,
    setTimer(ms: number, fn: () => void) {
      const timer = setTimeout(() => {
        lastTickAt = Date.now();
        fn();
      }, ms);
      return () => clearTimeout(timer);
    },
  };
  const driver = new HeartbeatDriver({
    key: apiKey.current(),
    // Half of them are for attempts that are not overdue: so many can always begin.
    openLimit: attemptsAtOnce,
    concurrency: Math.floor(attemptsAtOnce / 2),
    ports: {
      ...ports,
      // Without a key, because its file is not there yet, the key is what is wrong, and is looked for.
      beat: (request) => (request.key === '' ? Promise.resolve({ type: 'unauthorized' }) : beat(request)),
      readKey,
      listener(deploymentId, notice) {
        // Its name may have another id by now.
        if (notice.type === 'state' && notice.to === 'gone') watch.refresh();
        listener.notice(deploymentId, notice);
      },
    },
  });
  const watch = watchDeployments({
    client,
    wanted: deployments,
    settings,
    ports,
    signal: stopping.signal,
    onChange: keep,
    onRemark: (remark) => listener.remark(remark),
    isGone: (id) => driver.viewOf(id)?.state === 'gone',
  });

  /** A key that is new also answers questions that were refused. */
  async function readKey(signal: AbortSignal): Promise<string> {
    const before = apiKey.current();
    try {
      const key = await apiKey.reread(signal);
      if (key !== before) watch.refresh();
      return key;
    } catch (error) {
      if (!signal.aborted) listener.keyUnreadable((error as Error).message);
      throw error;
    }
  }

  /** Beats these and no others. */
  function keep(choices: readonly DeploymentChoice[]): void {
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
  }

  return {
    reload(wanted, timing) {
      watch.refresh({ wanted, settings: timing });
      driver.beatNow((state) => state === 'gone');
    },
    sharedLimit: () => driver.sharedLimit(),
    keyChanged: () => driver.readKey(),
    lastTickAt: () => lastTickAt,
    deploymentIds: () => kept,
    view: (deploymentId) => driver.viewOf(deploymentId),
    openConnections: () => transport.open,
    lastBeatsTakeMs: () => driver.finalBeatMs(),
    lastBeats: (limitMs) => driver.finalBeat(AbortSignal.timeout(Math.max(0, Math.floor(limitMs)))),
    async stop() {
      stopping.abort(new Error('stopping'));
      await Promise.all([driver.stop(), watch.done]);
      await client[Symbol.asyncDispose]();
    },
  };
}
