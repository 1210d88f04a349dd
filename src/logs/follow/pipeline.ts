/** From the service to the sinks: follower, spool, and a pump for each sink. */
import type { LogEvent } from '../events.ts';
import type { LogSource } from '../source.ts';
import { createFollower } from './follower.ts';
import type { FollowOptions, LogStore } from './group-follower.ts';
import type { LogView } from './group-stats.ts';
import { startPump } from '../sinks/pump.ts';
import type { Sink } from '../sinks/sink.ts';
import type { SinkStanding } from '../spool/spool-database.ts';
import type { Spool } from '../spool/spool.ts';

export interface LogPipelineOptions extends Omit<FollowOptions, 'spool'> {
  readonly spool: LogStore & Pick<Spool, 'take' | 'acknowledge' | 'standing' | 'close'>;
  /** Where lines are taken to on their way to the spool, if not straight to it. */
  readonly store?: LogStore | undefined;
  readonly sources: readonly LogSource[];
  /** Those whose names the spool was opened with. */
  readonly sinks: readonly Sink[];
}

interface SinkView extends SinkStanding {
  readonly name: string;
}

export interface LogsView {
  readonly logs: readonly LogView[];
  readonly sinks: readonly SinkView[];
}

export interface LogPipeline {
  add(source: LogSource): void;
  remove(source: LogSource): Promise<void>;
  /** Stops following all of them; sinks go on with what was taken. */
  rest(): Promise<void>;
  view(): LogsView;
  /**
   * Stops polling, delivers what is in the spool until `deadline` aborts, and closes sinks and spool.
   * What is not delivered by then stays in a spool on disk. A second call waits for the first.
   */
  stop(deadline: AbortSignal): Promise<void>;
}

export function startLogPipeline(options: LogPipelineOptions): LogPipeline {
  const { spool, sinks, clock, random, sources } = options;
  const pumps = sinks.map((sink) => startPump({ spool, sink, clock, random, observe: options.observe }));
  const observe = (event: LogEvent) => {
    options.observe(event);
    if (event.kind === 'polled') for (const pump of pumps) pump.wake();
  };
  const follower = createFollower({ ...options, spool: options.store ?? spool, observe });
  for (const source of sources) follower.add(source);
  let stopped: Promise<void> | undefined;

  return {
    add: (source) => follower.add(source),
    remove: (source) => follower.remove(source),
    rest: () => follower.stop(),
    view: () => ({
      logs: follower.view(),
      sinks: sinks.map(({ name }) => {
        const { lag, dropped } = spool.standing(name);
        return { name, lag, dropped };
      }),
    }),
    stop: (deadline) => (stopped ??= stop(deadline)),
  };

  /** Goes through to the end, and reports the first failure. */
  async function stop(deadline: AbortSignal): Promise<void> {
    await follower.stop();
    const ends = await Promise.allSettled(pumps.map((pump) => pump.stop(deadline)));
    await options.store?.finish?.(deadline);
    spool.close();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
