/**
 * A process that follows a log of 5,000 lines/s for five minutes of virtual time while nobody reads its standard
 * output, as the daemon does. Then it says what it saw, and waits to be read. Arguments: address of the service in
 * virtual time, API key, seconds.
 */
import { createClient } from '../../src/client/client.ts';
import { standardOutput } from '../../src/daemon/process/standard-output.ts';
import type { LogEvent } from '../../src/logs/events.ts';
import { createTailFetcher, startLogPipeline } from '../../src/logs/follow/pipeline.ts';
import { memorySpool } from './memory-spool.ts';
import { stdoutSink } from '../../src/logs/sinks/stdout.ts';
import { ServiceTime } from './service-time.ts';

export interface StallReport {
  /** Bytes, when the first poll was answered. */
  readonly rssBefore: number;
  readonly rss: readonly number[];
  readonly seq: number;
  readonly dropped: number;
  readonly gaps: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const [logsUrl = '', apiKey = '', seconds = '0'] = process.argv.slice(2);
// What makes a pipe non-blocking.
void process.stdout;

/** Resolves when the parent has moved the service's clock. */
function moveService(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('message', () => resolve());
  process.send?.({ advance: ms });
  return promise;
}

const time = new ServiceTime(moveService);
let dropped = 0;
const observe = (event: LogEvent): void => {
  if (event.kind === 'dropped') dropped += event.records;
};
const client = createClient({ baseUrl: logsUrl, apiKey });
const pipeline = startLogPipeline({
  sources: [{ kind: 'workergroup', id: 7 }],
  fetchTail: time.waitingFor(createTailFetcher(client)),
  spool: memorySpool(['stdout'], undefined, observe),
  sinks: [stdoutSink(standardOutput(1))],
  start: 'all',
  clock: time.clock,
  random: Math.random,
  observe,
});

const started = performance.now();
const rss: number[] = [];
await time.idle();
const rssBefore = process.memoryUsage.rss();
for (let second = 0; second < Number(seconds); second++) {
  await time.advance(1_000, 500);
  rss.push(process.memoryUsage.rss());
}
const { logs } = pipeline.view();
const report: StallReport = {
  rssBefore,
  rss,
  seq: logs[0]?.seq ?? 0,
  dropped,
  gaps: logs[0]?.gaps ?? {},
  seconds: (performance.now() - started) / 1000,
};
process.send?.({ report });
await pipeline.stop(new AbortController().signal);
await client[Symbol.asyncDispose]();
process.disconnect();
