/** From the service to the sinks: follower, spool, and a pump for each sink. */
import type { LogEvent } from '../events.ts';
import { sourceKey, type LogSource, type SourceKey } from '../source.ts';
import { GroupFollower, type FollowOptions, type LogStore } from './group-follower.ts';
import type { LogView } from './group-stats.ts';
import { PollsUnderWay } from './polls-under-way.ts';
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
  /** Follows one more log, if it is not followed already. */
  add(source: LogSource): void;
  /** Stops following a log. Added again, it goes on from there. */
  remove(source: LogSource): Promise<void>;
  /** Stops following all of them; sinks go on with what was taken. */
  rest(): Promise<void>;
  view(): LogsView;
  /**
   * Stops polling, delivers what is in the spool until `deadline` aborts, and closes sinks and spool. A spool on disk keeps
   * the rest. A second call waits for the first.
   */
  stop(deadline: AbortSignal): Promise<void>;
}

interface Following {
  readonly group: GroupFollower;
  readonly halt: AbortController;
  readonly done: Promise<void>;
}

export function startLogPipeline(options: LogPipelineOptions): LogPipeline {
  const { spool, sinks, clock, random, store = spool } = options;
  const pumps = sinks.map((sink) => startPump({ spool, sink, clock, random, observe: options.observe }));
  const observe = (event: LogEvent) => {
    options.observe(event);
    if (event.kind === 'polled') for (const pump of pumps) pump.wake();
  };
  const followed = new Map<SourceKey, Following>();
  const underWay = new PollsUnderWay(clock);
  for (const source of options.sources) add(source);
  let stopped: Promise<void> | undefined;

  return {
    add,
    remove: (source) => remove(sourceKey(source)),
    rest,
    view: () => ({
      logs: Array.from(followed.values(), ({ group }) => group.view()),
      sinks: sinks.map(({ name }) => {
        const { lag, dropped } = spool.standing(name);
        return { name, lag, dropped };
      }),
    }),
    stop: (deadline) => (stopped ??= stop(deadline)),
  };

  function add(source: LogSource): void {
    if (followed.has(sourceKey(source))) return;
    const group = new GroupFollower(source, { ...options, spool: store, observe }, underWay);
    const halt = new AbortController();
    followed.set(sourceKey(source), { group, halt, done: group.run(halt.signal) });
  }

  async function remove(key: SourceKey): Promise<void> {
    const following = followed.get(key);
    followed.delete(key);
    following?.halt.abort();
    await following?.done;
  }

  async function rest(): Promise<void> {
    await Promise.all(Array.from(followed.keys(), remove));
  }

  /** Goes through to the end, and reports the first failure. */
  async function stop(deadline: AbortSignal): Promise<void> {
    await rest();
    const ends = await Promise.allSettled(pumps.map((pump) => pump.stop(deadline)));
    await store.finish?.(deadline);
    spool.close();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
