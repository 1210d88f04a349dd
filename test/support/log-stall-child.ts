/**
 * A process that follows a log of 5,000 lines/s for five minutes of virtual time while nobody reads its standard
 * output, and keeps a deployment alive meanwhile, in real time; in two threads, as the daemon does. Then it says what
 * it saw, and waits to be read. Arguments: address of the service in virtual time, of the one in real time, API key,
 * seconds.
 */
import { Worker } from 'node:worker_threads';
import { hostHeart } from '../../src/heartbeat/isolation/host.ts';
import type { StallOptions } from './log-stall-thread.ts';

const [logsUrl = '', beatsUrl = '', apiKey = '', seconds = '0'] = process.argv.slice(2);

// What makes a pipe non-blocking.
void process.stdout;
const host = hostHeart({
  baseUrl: beatsUrl,
  key: apiKey,
  keyFile: undefined,
  deployments: [{ id: 42, ttl: 10_000, interval: 'auto' }],
});
const heart = host.link();
const options: StallOptions = { heart, logsUrl, beatsUrl, apiKey, seconds: Number(seconds) };
const thread = new Worker(new URL('log-stall-thread.ts', import.meta.url), {
  workerData: options,
  transferList: [heart.port],
});
thread.on('message', (message: object) => process.send?.(message));
process.on('message', (message: object) => thread.postMessage(message));
thread.on('exit', () => {
  process.disconnect();
  void host.stop();
});
