/**
 * A process that follows a log over real sockets, in a time that its parent lets pass, and prints it. It may be killed
 * at any moment: by the parent, or by itself at the nth statement that its spool executes.
 * Arguments: STATE_DIR, URL of the service, Unix milliseconds at which it begins, n (0: never), before or after.
 */
import { createClient } from '../../src/client/client.ts';
import { standardOutput } from '../../src/daemon/process/standard-output.ts';
import { createTailFetcher, startLogPipeline } from '../../src/logs/follow/pipeline.ts';
import { stdoutSink } from '../../src/logs/sinks/stdout.ts';
import { Spool } from '../../src/logs/spool/spool.ts';
import { dieAtStatement } from './die-at-statement.ts';
import { ServiceTime } from './service-time.ts';

const [directory = '', url = '', begins = '', statement = '', when = ''] = process.argv.slice(2);
dieAtStatement(Number(statement), when === 'before' ? 'before' : 'after');

// The service's clock is the parent's, who moves it before.
const time = new ServiceTime(() => Promise.resolve(), Number(begins));
const { clock } = time;
// What makes a pipe non-blocking.
void process.stdout;
const client = createClient({ baseUrl: url, serverlessUrl: url, apiKey: 'a-key-of-nobody' });
const pipeline = startLogPipeline({
  sources: [{ kind: 'workergroup', id: 7 }],
  fetchTail: time.waitingFor(createTailFetcher(client)),
  spool: await Spool.open({ directory, sinks: ['stdout'], clock, observe: report }),
  sinks: [stdoutSink(standardOutput(1))],
  start: 'all',
  clock,
  random: () => 0.5,
  observe: report,
});
await time.idle();
process.send?.('begun');

process.on('message', (message: 'stop' | number) => {
  if (message === 'stop') void pipeline.stop(new AbortController().signal).then(() => process.exit());
  else void time.advance(message, message).then(() => process.send?.('passed'));
});

function report({ kind }: { readonly kind: string }): void {
  if (kind === 'spool failed' || kind === 'sink failed') process.stderr.write(`${kind}\n`);
}
