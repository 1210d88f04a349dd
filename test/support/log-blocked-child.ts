/**
 * A process whose standard output nobody reads: it spools many lines, goes on meanwhile,
 * and says on standard error what it kept and what it dropped. Then it waits to be read.
 */
import { setImmediate } from 'node:timers/promises';
import { standardOutput } from '../../src/daemon/process/standard-output.ts';
import { systemClock } from '../../src/time/clock.ts';
import { memorySpool } from './memory-spool.ts';
import { startPump } from '../../src/logs/sinks/pump.ts';
import { stdoutSink } from '../../src/logs/sinks/stdout.ts';
import { progressAt, recordsFrom } from './log-records.ts';

const RECORDS = 200_000;

// What makes a pipe non-blocking.
void process.stdout;

const spool = memorySpool(['stdout'], 2 * 2 ** 20);
const pump = startPump({
  spool,
  sink: stdoutSink(standardOutput(1)),
  clock: systemClock,
  random: Math.random,
  observe: () => {},
});
for (let seq = 1; seq <= RECORDS; seq += 1_000) {
  spool.append('workergroup/7', recordsFrom(seq, 1_000), progressAt(seq));
  pump.wake();
  await setImmediate(); // a process that is stuck on its output never comes back from here
}
process.stderr.write(`${JSON.stringify({ records: RECORDS, ...spool.standing('stdout') })}\n`);
await pump.stop(new AbortController().signal);
