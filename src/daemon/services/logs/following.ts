/** The log pipeline in the daemon: started from the settings, changed by a reload, stopped in two steps. */
import type { Logger } from 'pino';
import type { DaemonClient } from '../client.ts';
import { systemClock } from '../../../time/clock.ts';
import type { LogEvent, LogListener } from '../../../logs/events.ts';
import { createTailFetcher } from '../../../logs/follow/fetch-tail.ts';
import { startLogPipeline, type PipelineSpool } from '../../../logs/follow/pipeline.ts';
import { LogLookup } from '../../../logs/lookup/log-lookup.ts';
import type { LogSource } from '../../../logs/source.ts';
import type { LineOutput } from '../../../logs/sinks/line-output.ts';
import { Spool } from '../../../logs/spool/spool.ts';
import type { Settings } from '../../../config/options.ts';
import type { Status } from '../../status/schema.ts';
import { followedStatus } from '../../status/logs.ts';
import { logEventsTo } from './events.ts';
import { openSinks, type SinkSettings } from './sinks.ts';
import { SinkCounts } from './sink-counts.ts';

type LogSettings = SinkSettings &
  Pick<Settings, 'workerGroups' | 'endpointLogs' | 'logStart' | 'followLevels' | 'stateDir'>;

const LIST_TURN = { everyMs: 60_000, need: 'log' } as const;

export interface LogFollowingOptions {
  readonly client: Pick<DaemonClient, 'workergroups' | 'endpointGroups'>;
  readonly settings: LogSettings;
  readonly logger: Logger;
  readonly stdout: LineOutput;
  /** Opens the spool; without it, one in STATE_DIR or in memory. */
  readonly openSpool?: (sinks: readonly string[], observe: LogListener) => PipelineSpool;
  /** Another daemon of this heart followed logs before this one. */
  readonly isRestart?: boolean;
}

export interface LogFollowing {
  status(): Pick<Status, 'worker_groups' | 'endpoint_logs' | 'sinks' | 'spool_durable'>;
  /** Follows the logs of new settings and no others. */
  apply(settings: LogSettings): Promise<void>;
  /** Polling ends now; what was taken goes on to the sinks until `deadline` aborts. */
  beginStop(deadline: AbortSignal): void;
  /** Resolves when the sinks have what they could get. */
  stopped(): Promise<void>;
}

export async function startLogFollowing(options: LogFollowingOptions): Promise<LogFollowing> {
  const { client, settings, logger } = options;
  const sinks = await openSinks(settings, options.stdout, logger);
  const sinkNames = sinks.map(({ name }) => name);
  const counts = new SinkCounts(sinkNames);

  const tell = logEventsTo(logger, () => performance.now());
  function observe(event: LogEvent): void {
    counts.observe(event);
    tell(event);
  }
  const { stateDir: directory } = settings;
  const { isRestart = false } = options;
  const spool: PipelineSpool =
    options.openSpool?.(sinkNames, observe) ??
    (await Spool.open({ directory, sinks: sinkNames, isRestart, clock: systemClock, observe }));
  const pipeline = startLogPipeline({
    sources: [],
    fetchTail: createTailFetcher(client),
    spool,
    sinks,
    start: settings.logStart,
    levels: settings.followLevels,
    clock: systemClock,
    random: Math.random,
    observe,
  });
  let leaving: Promise<unknown> = Promise.resolve();
  const shared = {
    onChange(begun: readonly LogSource[], left: readonly LogSource[]): void {
      leaving = Promise.all([leaving, ...left.map((source) => pipeline.remove(source))]);
      for (const source of begun) pipeline.add(source);
    },
    observe,
    clock: systemClock,
    random: Math.random,
  };
  const groups = new LogLookup({
    kind: 'workergroup',
    wanted: settings.workerGroups,
    list: async (signal) => (await client.workergroups.list({}, { signal, turn: LIST_TURN })).results,
    ...shared,
  });
  const endpoints = new LogLookup({
    kind: 'endpoint',
    wanted: settings.endpointLogs,
    list: async (signal) => (await client.endpointGroups.list({}, { signal, turn: LIST_TURN })).results,
    ...shared,
  });
  const isAnyWanted = settings.workerGroups.length > 0 || settings.endpointLogs.length > 0;
  if (isAnyWanted && spool.durable === undefined) {
    logger[isRestart ? 'warn' : 'info'](
      'no PILOTLIGHT_STATE_DIR: a restart delivers again what the service still has, and numbers records from the start',
    );
  }
  let stopping: Promise<void> | undefined;

  return {
    status() {
      const view = pipeline.view();
      return {
        ...followedStatus(view.logs),
        sinks: view.sinks.map(({ name, lag }) => counts.status(name, lag)),
        spool_durable: spool.durable ?? null,
      };
    },
    async apply(next) {
      groups.want(next.workerGroups);
      endpoints.want(next.endpointLogs);
      await leaving;
    },
    beginStop(deadline) {
      stopping ??= Promise.all([groups.stop(), endpoints.stop()]).then(() => pipeline.stop(deadline));
      // Awaited by stopped(); until then a failure must not count as unhandled.
      stopping.catch(() => {});
    },
    stopped: () => stopping ?? Promise.resolve(),
  };
}
