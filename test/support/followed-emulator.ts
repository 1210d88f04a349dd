/** The emulator, its clock stopped, and a follower of its logs: both in one virtual time, over real sockets. */
import { createClient, type Client, type ClientObserver } from '../../src/client/client.ts';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/index.ts';
import type { LogSource } from '../../src/logs/record.ts';
import { createTailFetcher, startLogPipeline } from '../../src/logs/follow/pipeline.ts';
import { memorySpool } from './memory-spool.ts';
import { CollectingSink } from './log-sinks.ts';
import { ServiceTime } from './service-time.ts';

export const GROUP = 7;

export interface FollowedEmulator extends AsyncDisposable {
  readonly emulator: Emulator;
  readonly client: Client;
  readonly sink: CollectingSink;
  readonly advance: (ms: number, stepMs?: number) => Promise<void>;
}

/** The log grows by nothing until it is told to. */
export async function followEmulator(
  replay: readonly string[],
  {
    sources = [{ kind: 'workergroup', id: GROUP }],
    onAnswer,
    onReset,
    ...options
  }: EmulatorOptions & {
    readonly sources?: readonly LogSource[];
    readonly onAnswer?: ClientObserver['answer'];
    readonly onReset?: () => void;
  } = {},
): Promise<FollowedEmulator> {
  const emulator = await startEmulator({
    clock: 'frozen',
    seed: { workergroups: [{ id: GROUP, lines_per_second: 0, replay: { lines: [...replay] } }] },
    ...options,
  });
  const client = createClient({
    baseUrl: emulator.url,
    apiKey: emulator.apiKey,
    ...(onAnswer && { observe: { answer: onAnswer } }),
  });
  const time = new ServiceTime((ms) => emulator.clock.advance(ms));
  const sink = new CollectingSink();
  const pipeline = startLogPipeline({
    sources,
    fetchTail: time.waitingFor(createTailFetcher(client)),
    // So large that the sink, which takes all at once, never misses anything.
    spool: memorySpool([sink.name], 2 ** 30),
    sinks: [sink],
    start: 'all',
    clock: time.clock,
    random: () => 0.5,
    observe: (event) => {
      if (event.kind === 'gap' && event.reason === 'reset') onReset?.();
    },
  });
  await time.idle();
  return {
    emulator,
    client,
    sink,
    advance: (ms, stepMs = 100) => time.advance(ms, stepMs),
    async [Symbol.asyncDispose]() {
      await pipeline.stop(AbortSignal.abort());
      await client[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}
