/** The thread of log-stall-child.ts that follows the log; it sees the heartbeats of the other one. */
import { parentPort, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { createApiKey } from '../../src/client/api-key.ts';
import { createClient } from '../../src/client/client.ts';
import { startHeartbeats } from '../../src/daemon/heartbeats.ts';
import { standardOutput } from '../../src/daemon/standard-output.ts';
import { openIsolatedHeart } from '../../src/heartbeat/isolation/isolated-heart.ts';
import { createTailFetcher } from '../../src/logs/fetch-tail.ts';
import type { HeartLink } from '../../src/heartbeat/isolation/protocol.ts';
import { MemorySpool } from '../../src/logs/memory-spool.ts';
import { startLogPipeline } from '../../src/logs/pipeline.ts';
import { stdoutSink } from '../../src/logs/sinks/stdout.ts';
import { settled } from './log-time.ts';
import { ServiceTime } from './service-time.ts';

export interface StallOptions {
  readonly heart: HeartLink;
  /** Of the service in virtual time. */
  readonly logsUrl: string;
  /** Of the one in real time. */
  readonly beatsUrl: string;
  readonly apiKey: string;
  /** Virtual ones. */
  readonly seconds: number;
}

export interface StallReport {
  /** Bytes, when the first poll was answered. */
  readonly rssBefore: number;
  /** Bytes, at the end of each virtual second. */
  readonly rss: readonly number[];
  /** Of the last record. */
  readonly seq: number;
  readonly dropped: number;
  readonly gaps: Readonly<Record<string, number>>;
  /** Real. */
  readonly seconds: number;
  readonly beats: number;
  readonly beatFailures: Readonly<Record<string, number>>;
  readonly lapses: number;
  /** Closest approach to expiry: remaining time over TTL. */
  readonly margin: number | null;
}

if (parentPort === null) throw new Error('this is the entry of a worker thread');
const parent = parentPort;
const { heart, logsUrl, beatsUrl, apiKey, seconds } = workerData as StallOptions;

/** Resolves when the parent has moved the service's clock. */
function moveService(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  parent.once('message', () => resolve());
  parent.postMessage({ advance: ms });
  return promise;
}

const heartbeats = startHeartbeats({
  openHeart: (options) => openIsolatedHeart(heart, options),
  client: createClient({ baseUrl: beatsUrl, apiKey }),
  apiKey: createApiKey(apiKey, undefined),
  settings: {
    baseUrl: beatsUrl,
    deployments: [{ by: 'id', id: 42, ttlMs: 10_000 }],
    deploymentTtl: undefined,
    heartbeatInterval: 'auto',
  },
  logger: pino({ level: 'silent' }),
  onLag: () => {},
  onExchange: () => {},
});

const time = new ServiceTime(moveService);
const client = createClient({ baseUrl: logsUrl, apiKey });
const pipeline = startLogPipeline({
  workergroupIds: [7],
  fetchTail: time.waitingFor(createTailFetcher(client)),
  spool: new MemorySpool({ sinks: ['stdout'] }),
  sinks: [stdoutSink(standardOutput())],
  start: 'all',
  clock: time.clock,
  random: Math.random,
  observe: () => {},
});

const started = performance.now();
const rss: number[] = [];
await time.idle();
// The other thread must have loaded before its memory can be told from the lines'.
while ((await heartbeats.status())[0]?.heartbeats === 0) await settled();
const rssBefore = process.memoryUsage.rss();
for (let second = 0; second < seconds; second++) {
  await time.advance(1_000, 500);
  rss.push(process.memoryUsage.rss());
}
const { groups, sinks } = pipeline.view();
const [deployment] = await heartbeats.status();
const report: StallReport = {
  rssBefore,
  rss,
  seq: groups[0]?.seq ?? 0,
  dropped: sinks[0]?.dropped ?? 0,
  gaps: groups[0]?.gaps ?? {},
  seconds: (performance.now() - started) / 1000,
  beats: deployment?.heartbeats ?? 0,
  beatFailures: deployment?.failures ?? {},
  lapses: deployment?.lapses ?? 0,
  margin: deployment?.min_margin_ratio ?? null,
};
parent.postMessage({ report });
await heartbeats.stop();
await pipeline.stop(new AbortController().signal);
parent.close();
