/** The work that only one replica does: if there are several, the replica that holds the lease. */
import type { Settings } from '../../config/options.ts';
import type { LineOutput } from '../../logs/sinks/stdout.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { DaemonClient } from './client.ts';
import { startLogFollowing } from './logs.ts';
import type { Fleet } from '../../fleet/view.ts';
import { startFleet, type FleetOptions } from './fleet.ts';
import { startWatches } from './watches.ts';
import type { Status } from '../status/schema.ts';
import { joinReplicas } from '../replicas/replicas.ts';

interface SharedWorkOptions extends Pick<FleetOptions, 'logger' | 'onEvent' | 'onTraits' | 'clock'> {
  /** Distinct for each replica and each of its lives. */
  readonly id: string;
  readonly client: DaemonClient;
  readonly settings: Settings;
  readonly stdout: LineOutput;
  /** How many daemons of this heart there were before. */
  readonly restarts: number;
}

export type SharedWork = Awaited<ReturnType<typeof startSharedWork>>;

const NOTHING_SEEN = { instances: {}, maintenance_windows: [], account: null } as const;

export async function startSharedWork(options: SharedWorkOptions) {
  const { id, client, settings, logger, stdout, restarts } = options;
  const onReset = () => options.onTraits({ log_file_bytes: 'begins_anew' });
  const following = { client, logger, stdout, onReset, isRestart: restarts > 0 };
  const replicas =
    settings.redisUrl === undefined
      ? undefined
      : await joinReplicas({
          id,
          redisUrl: settings.redisUrl,
          settings,
          logger,
          startFollowing: (share) => startLogFollowing({ ...following, settings, share }),
          onTaken() {
            watches.runNow();
            void fleet.takeOver();
          },
          onDenied: () => fleet.standDown(),
        });
  const logs = replicas?.logs ?? (await startLogFollowing({ ...following, settings }));
  const watches = startWatches(client, settings, logger, replicas?.held);
  const fleet = startFleet({ ...options, prices: watches.prices, isReplica: replicas !== undefined });

  return {
    fleet: fleet as Fleet,
    status() {
      const alone: Status['replica'] = { id, role: 'alone', last_error: null };
      return {
        replica: replicas?.status() ?? alone,
        ...logs.status(),
        ...watches.status(),
        // What a replica saw before another took over the watches is out of date.
        ...(replicas?.held() === false && NOTHING_SEEN),
      };
    },
    async apply(next: Settings): Promise<void> {
      await logs.apply(next);
      await watches.apply(next);
      await fleet.apply(next);
    },
    /** Adds what ends the work to the clean-ups. */
    stopWith(lifecycle: Lifecycle): void {
      lifecycle.onStop('fleet', () => fleet.stop());
      lifecycle.onStop('watches', () => watches.stop());
      lifecycle.onStop('log polling', (remainingMs) =>
        logs.beginStop(AbortSignal.timeout(Math.floor(remainingMs / 2))),
      );
      lifecycle.onStop('log sinks', () => logs.stopped());
      lifecycle.onStop('replicas', () => replicas?.leave());
    },
  };
}
