/** From the service to the sinks: polls over the client, a follower for each log, spool, and a pump for each sink. */
import type { ClientOf } from '../../client/caller.ts';
import {
  ApiError,
  ResponseError,
  TimeoutError,
  TransportError,
  type TransportReason,
} from '../../client/errors.ts';
import { messageOf } from '../../contract/pilotlight-error.ts';
import { NOT_FOUND, recogniseAnswer, type Refusal } from '../answer.ts';
import type { LogEvent } from '../events.ts';
import { type LogSource, sourceKey, type SourceKey } from '../record.ts';
import { type Sink, startPump } from '../sinks/sink.ts';
import type { Spool } from '../spool/spool.ts';
import {
  type FetchTail,
  type FollowOptions,
  GroupFollower,
  type LogStore,
  PollsUnderWay,
  type TailRequest,
} from './group-follower.ts';

export interface LogPipelineOptions extends Omit<FollowOptions, 'spool'> {
  readonly spool: LogStore & Pick<Spool, 'take' | 'acknowledge' | 'lag' | 'close'>;
  /** Where lines are taken to on their way to the spool, if not straight to it. */
  readonly store?: LogStore | undefined;
  readonly sources: readonly LogSource[];
  /** Those whose names the spool was opened with. */
  readonly sinks: readonly Sink[];
}

interface Following {
  readonly group: GroupFollower;
  readonly halt: AbortController;
  readonly done: Promise<void>;
}

export function startLogPipeline(options: LogPipelineOptions) {
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
    /** Stops following a log. Added again, it goes on from there. */
    remove: (source: LogSource) => remove(sourceKey(source)),
    rest,
    view: () => ({
      logs: Array.from(followed.values(), ({ group }) => group.view()),
      sinks: sinks.map(({ name }) => ({ name, lag: spool.lag(name) })),
    }),
    /**
     * Stops polling, delivers what is in the spool until `deadline` aborts, and closes sinks and spool. A spool on disk
     * keeps the rest. A second call waits for the first.
     */
    stop: (deadline: AbortSignal) => (stopped ??= stop(deadline)),
  };

  /** Follows one more log, if it is not followed already. */
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

  /** Stops following all logs; sinks go on with what was taken. */
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

/** Logs can be slow: the vendor's own client waits 120 s. */
const TIMEOUT_MS = 120_000;

export type LogClient = Pick<
  ClientOf<'workergroups.logs' | 'endpointGroups.logs'>,
  'workergroups' | 'endpointGroups'
>;

const CUT: Readonly<Record<TransportReason, Refusal['tooLarge']>> = {
  'too-large': 'surely',
  reset: 'perhaps',
  malformed: 'perhaps',
  other: 'perhaps',
  refused: undefined,
  dns: undefined,
  tls: undefined,
  unreachable: undefined,
  proxy: undefined,
};

/** The client makes one attempt: the follower decides when to ask again. */
export function createTailFetcher(client: LogClient): FetchTail {
  return async (request) => {
    try {
      return recogniseAnswer(200, await ask(client, request));
    } catch (error) {
      const reason = messageOf(error);
      const retryAfterMs = error instanceof ApiError ? error.waitMs : undefined;
      const notFound = NOT_FOUND.test(reason) || (error instanceof ApiError && error.hasCode('not_found'));
      const tooLarge = notFound ? undefined : whetherTooLarge(error);
      return {
        kind: 'error',
        reason,
        ...(notFound && { notFound }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(tooLarge && { tooLarge }),
      };
    }
  };
}

function ask(client: LogClient, { source, tail, everyMs, signal }: TailRequest): Promise<unknown> {
  const turn = { everyMs, need: 'log', who: sourceKey(source) } as const;
  const options = { signal, retry: false, timeoutMs: TIMEOUT_MS, turn } as const;
  const operations = source.kind === 'workergroup' ? client.workergroups : client.endpointGroups;
  return operations.logs({ id: source.id, tail }, options);
}

function whetherTooLarge(error: unknown): Refusal['tooLarge'] {
  if (error instanceof ApiError && error.status === 413) return 'surely';
  if (error instanceof TransportError) return CUT[error.reason];
  // Too slow or too large for us, for a gateway or for the service, or cut.
  const isLikely = error instanceof TimeoutError || error instanceof ResponseError;
  return isLikely || (error instanceof ApiError && error.status >= 500) ? 'perhaps' : undefined;
}
