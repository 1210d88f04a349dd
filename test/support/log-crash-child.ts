/**
 * A process that follows a log of its parent's and may be killed at any moment: by the parent, or by itself
 * at the nth statement that its spool executes. Arguments: STATE_DIR, n (0: never), before or after.
 */
import { setImmediate } from 'node:timers/promises';
import { standardOutput } from '../../src/daemon/process/standard-output.ts';
import type { TailAnswer } from '../../src/logs/answer.ts';
import type { Clock } from '../../src/time/clock.ts';
import { startLogPipeline } from '../../src/logs/follow/pipeline.ts';
import { stdoutSink } from '../../src/logs/sinks/stdout.ts';
import { Spool } from '../../src/logs/spool/spool.ts';
import { dieAtStatement } from './die-at-statement.ts';

const [directory = '', statement = '0', when = 'before'] = process.argv.slice(2);

dieAtStatement(Number(statement), when === 'before' ? 'before' : 'after');

/** Waits for nothing but answers that do not come. */
const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    ms < 60_000
      ? setImmediate(undefined, { signal })
      : new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        ),
};

const answers: ((answer: TailAnswer) => void)[] = [];

// What makes a pipe non-blocking.
void process.stdout;
const stdout = standardOutput(1);

const spool = await Spool.open({
  directory,
  sinks: ['stdout'],
  clock,
  observe: ({ kind }) => process.stderr.write(`${kind}\n`),
});
const pipeline = startLogPipeline({
  sources: [{ kind: 'workergroup', id: 7 }],
  fetchTail({ tail }) {
    process.send?.({ tail });
    return new Promise((resolve) => answers.push(resolve));
  },
  spool,
  sinks: [stdoutSink(stdout)],
  start: 'all',
  clock,
  random: Math.random,
  observe: ({ kind }) => {
    if (kind.includes('failed')) process.stderr.write(`${kind}\n`);
  },
});

process.on('message', (message: 'stop' | { readonly answer: TailAnswer }) => {
  // Not by disconnecting: that waits for the rest of an answer that is only half read, and may wait for ever.
  if (message === 'stop') void pipeline.stop(new AbortController().signal).then(() => process.exit());
  else answers.shift()?.(message.answer);
});
