/** The log pipeline in the daemon: its port to the service, its log lines, and its view as the status shows it. */
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { DaemonClient } from './client.ts';
import { systemClock } from '../../logs/clock.ts';
import type { DropReason, LogEvent } from '../../logs/events.ts';
import { createTailFetcher } from '../../logs/follow/fetch-tail.ts';
import { startLogPipeline } from '../../logs/follow/pipeline.ts';
import { SinkBusy } from '../../logs/sinks/sink.ts';
import type { Spool } from '../../logs/spool/spool.ts';
import type { Settings } from '../../config/options/options.ts';
import { openSinks, type SinkSettings } from './log-sinks.ts';
import { openLogSpool } from './log-spool.ts';
import type { SinkStatus, Status, WorkerGroupStatus } from '../status/status.ts';

type LogSettings = SinkSettings & Pick<Settings, 'workerGroups' | 'logStart' | 'stateDir'>;

export interface LogFollowingOptions {
  readonly client: Pick<DaemonClient, 'workergroups'>;
  readonly settings: LogSettings;
  readonly logger: Logger;
  readonly stdout: Writable;
  /** Opens the spool; without it, one in STATE_DIR or in memory. */
  readonly openSpool?: (sinks: readonly string[]) => Spool;
  /** Another daemon of this heart followed logs before this one. */
  readonly isRestart?: boolean;
}

export interface LogFollowing {
  status(): Pick<Status, 'worker_groups' | 'sinks' | 'spool_durable'>;
  /** Follows the groups of new settings and no others. */
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
  const counts = createSinkCounts(sinkNames);
  const followed = new Set(settings.workerGroups);

  function observe(event: LogEvent): void {
    counts.observe(event);
    logEvent(logger, event);
  }
  const directory = settings.stateDir;
  const { spool, durable, release } = options.openSpool
    ? { spool: options.openSpool(sinkNames), durable: () => true, release() {} }
    : await openLogSpool({ directory, sinks: sinkNames, isRestart: options.isRestart ?? false, observe });
  const pipeline = startLogPipeline({
    workergroupIds: settings.workerGroups,
    fetchTail: createTailFetcher(client),
    spool,
    sinks,
    start: settings.logStart,
    clock: systemClock,
    random: Math.random,
    observe,
  });
  if (settings.workerGroups.length > 0 && durable() === undefined) {
    logger[options.isRestart ? 'warn' : 'info'](
      'no PILOTLIGHT_STATE_DIR: a restart delivers again what the service still has, and numbers records anew',
    );
  }
  let stopping: Promise<void> | undefined;

  return {
    status() {
      const view = pipeline.view();
      return {
        worker_groups: view.groups.map((group): WorkerGroupStatus => ({
          workergroup_id: group.workergroupId,
          lines: group.lines,
          bytes: group.bytes,
          lines_per_second: group.linesPerSecond,
          gaps: group.gaps,
          lost_lines_estimate: group.lostEstimate,
          poll_interval_seconds: group.intervalMs / 1000,
          tail_size: group.tail,
          last_line_at: group.lastLineAt === undefined ? null : group.lastLineAt / 1000,
          last_error: group.error ?? null,
          last_lines: group.lastLines.map((line) => shortened(line)),
        })),
        sinks: view.sinks.map(({ name, lag }) => counts.status(name, lag)),
        spool_durable: durable() ?? null,
      };
    },
    async apply(next) {
      for (const id of followed) {
        if (next.workerGroups.includes(id)) continue;
        followed.delete(id);
        await pipeline.remove(id);
      }
      for (const id of next.workerGroups) {
        followed.add(id);
        pipeline.add(id);
      }
    },
    beginStop(deadline) {
      release();
      stopping ??= pipeline.stop(deadline);
      // Awaited by stopped(); until then a failure must not count as unhandled.
      stopping.catch(() => {});
    },
    stopped: () => stopping ?? Promise.resolve(),
  };
}

/** Of a line, in the status: the sinks get all of it. */
const SHOWN_CHARACTERS = 2_000;

function shortened(line: string): string {
  if (line.length <= SHOWN_CHARACTERS) return line;
  return `${line.slice(0, SHOWN_CHARACTERS)} … (${line.length} characters)`;
}

/** Delivered and dropped records of each sink since the start. */
function createSinkCounts(names: readonly string[]) {
  const reasons: readonly DropReason[] = ['overflow', 'corruption', 'rejected'];
  const counts = new Map(
    names.map((name) => [
      name,
      {
        delivered: 0,
        dropped: Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<DropReason, number>,
      },
    ]),
  );
  return {
    observe(event: LogEvent): void {
      if (event.kind !== 'delivered' && event.kind !== 'dropped') return;
      const count = counts.get(event.sink);
      if (!count) return;
      if (event.kind === 'delivered') count.delivered += event.records;
      else count.dropped[event.reason] += event.records;
    },
    status(sink: string, lag: number): SinkStatus {
      const count = counts.get(sink);
      return {
        sink,
        delivered_lines: count?.delivered ?? 0,
        dropped_lines: { ...count?.dropped },
        lag_lines: lag,
      };
    },
  };
}

/** Says when something goes wrong, and mostly at debug level while it stays so. */
function logEvent(logger: Logger, event: LogEvent): void {
  switch (event.kind) {
    case 'poll failed': {
      const { workergroupId, reason, failures, retryInMs } = event;
      const fields = { workergroupId, reason, failures, retryInSeconds: Math.round(retryInMs / 100) / 10 };
      logger[failures === 1 ? 'warn' : 'debug'](fields, 'log poll failed; nothing is lost yet');
      return;
    }
    case 'gap': {
      const { workergroupId, reason, lostMin, lostEstimate } = event;
      logger.warn({ workergroupId, reason, lostMin, lostEstimate }, 'gap in the log');
      return;
    }
    case 'dropped': {
      const { sink, records, reason, message } = event;
      logger.error({ sink, records, reason, message }, 'log records dropped');
      return;
    }
    case 'sink failed': {
      const { sink, error, failures, retryInMs } = event;
      // Again after twice as many failures each time: what only a person can fix must not be missed.
      const isTold = Number.isInteger(Math.log2(failures));
      const level = error instanceof SinkBusy && error.advice !== undefined ? 'error' : 'warn';
      const fields = { sink, err: error, failures, retryInMs };
      logger[isTold ? level : 'debug'](fields, 'log sink failed; its records wait in the spool');
      return;
    }
    case 'spool failed':
      logger.error({ err: event.error }, 'the log spool could not store lines; they are taken again');
      return;
    case 'spool in memory':
      logger.error(
        { err: event.error },
        'PILOTLIGHT_STATE_DIR cannot be used: log records are kept in memory, and it is tried again',
      );
      return;
    case 'spool on disk again':
      logger.info('PILOTLIGHT_STATE_DIR can be used again: log records are kept on disk');
      return;
    case 'spool set aside':
      logger.error(
        { err: event.error, setAside: event.path },
        'the log spool was unreadable and set aside; a new epoch begins',
      );
      return;
    case 'polled':
    case 'lines':
    case 'delivered':
      return;
  }
}
