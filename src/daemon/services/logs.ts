import type { Logger } from 'pino';
import { messageOf } from '../../contract/pilotlight-error.ts';
import type { DaemonClient } from './client.ts';
import { systemClock } from '../../time/clock.ts';
import type { DropReason, LogEvent } from '../../logs/events.ts';
import { createTailFetcher, startLogPipeline } from '../../logs/follow/pipeline.ts';
import type { LogStore } from '../../logs/follow/group-follower.ts';
import { LogLookup } from '../../logs/lookup/log-lookup.ts';
import type { LogSource } from '../../logs/record.ts';
import { withPlainLines, type Sink } from '../../logs/sinks/sink.ts';
import { stdoutSink, type LineOutput } from '../../logs/sinks/stdout.ts';
import { Spool } from '../../logs/spool/spool.ts';
import type { Settings } from '../../config/options.ts';
import type { SinkStatus, Status } from '../status/schema.ts';
import { followedStatus } from '../status/logs.ts';
import { noticesTo } from './notices.ts';

type LogSettings = SinkSettings &
  Pick<Settings, 'workerGroups' | 'endpointLogs' | 'logStart' | 'followLevels' | 'stateDir'>;

const LIST_TURN = { everyMs: 60_000, need: 'log' } as const;

interface LogFollowingOptions {
  readonly client: Pick<DaemonClient, 'workergroups' | 'endpointGroups'>;
  readonly settings: LogSettings;
  readonly logger: Logger;
  readonly stdout: LineOutput;
  /** With several replicas: stores lines on their way to the spool. */
  readonly share?: (spool: Spool) => LogStore;
  readonly onReset: () => void;
  readonly isRestart?: boolean;
}

export type LogFollowing = Awaited<ReturnType<typeof startLogFollowing>>;

export async function startLogFollowing(options: LogFollowingOptions) {
  const { client, settings, logger } = options;
  const sinks = await openSinks(settings, options.stdout, logger);
  const sinkNames = sinks.map(({ name }) => name);
  const counts = new SinkCounts(sinkNames);

  const tell = noticesTo(logger, () => performance.now());
  function observe(event: LogEvent): void {
    counts.observe(event);
    tell(event);
    if (event.kind === 'gap' && event.reason === 'reset') options.onReset();
  }
  const { stateDir: directory } = settings;
  // Replicas share the progress, so a restart does not matter.
  const isRestart = options.isRestart === true && options.share === undefined;
  const spool = await Spool.open({ directory, sinks: sinkNames, isRestart, clock: systemClock, observe });
  const pipeline = startLogPipeline({
    sources: [],
    fetchTail: createTailFetcher(client),
    spool,
    store: options.share?.(spool),
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
  let current = settings;
  const startLookups = () => ({
    groups: new LogLookup({
      kind: 'workergroup',
      wanted: current.workerGroups,
      list: async (signal) => (await client.workergroups.list({}, { signal, turn: LIST_TURN })).results,
      ...shared,
    }),
    endpoints: new LogLookup({
      kind: 'endpoint',
      wanted: current.endpointLogs,
      list: async (signal) => (await client.endpointGroups.list({}, { signal, turn: LIST_TURN })).results,
      ...shared,
    }),
  });
  let lookups: ReturnType<typeof startLookups> | undefined;
  const isAnyWanted = settings.workerGroups.length > 0 || settings.endpointLogs.length > 0;
  if (isAnyWanted && spool.durable === undefined) {
    logger[isRestart ? 'warn' : 'info'](
      options.share === undefined
        ? 'no PILOTLIGHT_STATE_DIR: a restart delivers again what the service still has, and numbers records from the start'
        : 'no PILOTLIGHT_STATE_DIR: lines that no sink has taken are lost when this replica ends',
    );
  }
  let stopping: Promise<void> | undefined;
  async function rest(): Promise<void> {
    const ending = lookups;
    lookups = undefined;
    await Promise.all([ending?.groups.stop(), ending?.endpoints.stop()]);
    await pipeline.rest();
  }
  if (options.share === undefined) lookups = startLookups();

  return {
    /** Only with several replicas; one alone starts by itself. */
    follow(): void {
      if (stopping === undefined) lookups ??= startLookups();
    },
    rest,
    status(): Pick<Status, 'worker_groups' | 'endpoint_logs' | 'sinks' | 'spool_durable'> {
      const view = pipeline.view();
      return {
        ...followedStatus(view.logs),
        sinks: view.sinks.map(({ name, lag }) => counts.status(name, lag)),
        spool_durable: spool.durable ?? null,
      };
    },
    async apply(next: LogSettings): Promise<void> {
      current = { ...current, ...next };
      lookups?.groups.want(next.workerGroups);
      lookups?.endpoints.want(next.endpointLogs);
      await leaving;
    },
    /** Sinks go on until `deadline` aborts. */
    beginStop(deadline: AbortSignal): void {
      stopping ??= rest().then(() => pipeline.stop(deadline));
      // stopped() awaits it; until then a failure must not be unhandled.
      stopping.catch(() => {});
    },
    stopped: () => stopping ?? Promise.resolve(),
  };
}

const DROP_REASONS: readonly DropReason[] = ['overflow', 'corruption', 'rejected'];

type Counts = { -readonly [Key in 'delivered_lines' | 'last_error']: SinkStatus[Key] } & {
  readonly dropped_lines: Record<DropReason, number>;
};

export class SinkCounts {
  readonly #counts: ReadonlyMap<string, Counts>;

  constructor(sinks: readonly string[]) {
    this.#counts = new Map(sinks.map((name) => [name, noneYet()]));
  }

  observe(event: LogEvent): void {
    const counts = 'sink' in event ? this.#counts.get(event.sink) : undefined;
    if (!counts) return;
    if (event.kind === 'delivered') counts.delivered_lines += event.records;
    if (event.kind === 'dropped') counts.dropped_lines[event.reason] += event.records;
    // A rejected record is an answer of the sink.
    if (event.kind === 'delivered' || (event.kind === 'dropped' && event.reason === 'rejected'))
      counts.last_error = null;
    if (event.kind === 'sink failed') counts.last_error = messageOf(event.error);
  }

  status(sink: string, lag: number): SinkStatus {
    const { dropped_lines: dropped, ...counts } = this.#counts.get(sink) ?? noneYet();
    return { sink, ...counts, dropped_lines: { ...dropped }, lag_lines: lag };
  }
}

function noneYet(): Counts {
  const dropped = Object.fromEntries(DROP_REASONS.map((reason) => [reason, 0])) as Record<DropReason, number>;
  return { delivered_lines: 0, dropped_lines: dropped, last_error: null };
}

type SinkSettings = Pick<
  Settings,
  'logSinks' | 'logAnsi' | 'logFile' | 'logFileMaxBytes' | 'logFileMaxFiles' | 'otlpEndpoint' | 'otlpHeaders'
>;

export function openSinks(settings: SinkSettings, stdout: LineOutput, logger: Logger): Promise<Sink[]> {
  return Promise.all(
    settings.logSinks.map(async (name) => {
      switch (name) {
        case 'stdout':
          return stdoutSink(stdout);
        case 'file':
        case 'otlp': {
          const sink = await (name === 'file' ? openFileSink(settings, logger) : openOtlpSink(settings));
          return settings.logAnsi === 'strip' ? withPlainLines(sink) : sink;
        }
      }
    }),
  );
}

async function openFileSink(settings: SinkSettings, logger: Logger): Promise<Sink> {
  const { logFile: path, logFileMaxBytes: maxBytes, logFileMaxFiles: maxFiles } = settings;
  if (path === undefined) throw new Error('bug: a file sink without LOG_FILE');
  const { fileSink } = await import('../../logs/sinks/file.ts');
  return fileSink({
    path,
    maxBytes,
    maxFiles,
    onUntidy: (error) =>
      logger.warn({ err: error, path }, 'rotated log files were not compressed or removed'),
  });
}

async function openOtlpSink({
  otlpEndpoint: endpoint,
  otlpHeaders: headers = {},
}: SinkSettings): Promise<Sink> {
  if (endpoint === undefined)
    throw new Error('the configuration check lets no OTLP sink without an address through');
  const { otlpSink } = await import('../../logs/sinks/otlp.ts');
  return otlpSink({ endpoint, headers });
}
