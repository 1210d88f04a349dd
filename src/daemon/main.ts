/**
 * The daemon as a process: signals, configuration, exit codes, and the heartbeats, which have the main thread to
 * themselves. The first of them leaves before anything else is even loaded; then a thread is started for all the rest.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { hostHeart } from '../heartbeat/isolation/host.ts';
import { collectAtRest } from '../rest-collection.ts';
import { describeProblem } from '../config/describe.ts';
import { loadConfig } from '../config/load.ts';
import { deploymentChoices } from './deployment-choices.ts';
import { listenForSignals } from './signals.ts';
import type { Fault } from './thread-protocol.ts';

const EXIT_FAILED = 1;
const EXIT_CONFIG = 2;
/** How long the rest waits for the first heartbeats' answers, ms: to load it would slow them down. */
const FIRST_BEATS_MS = 100;

const V8_FLAGS = [
  // The HTTP parser is WebAssembly, for a few kilobytes a minute: V8's first compiler is fast enough for it, and its
  // second takes 10 MB that it never gives back. What the first of these implies must be said once V8 runs.
  '--liftoff-only',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
  // The heap is collected when it has doubled. V8 would let it grow to four times what lives in it: 40 MB more for a
  // hundred busy groups, of answers that were read long ago, and a tenth less work.
  '--heap-growing-percent=100',
];

export async function runDaemon(): Promise<void> {
  const signals = listenForSignals();
  for (const flag of V8_FLAGS) setFlagsFromString(flag);

  const { settings, problems, files } = loadConfig();
  if (!settings) {
    const errors = problems.filter(({ severity }) => severity !== 'note');
    for (const problem of errors) process.stderr.write(`${describeProblem(problem)}\n`);
    process.stderr.write('pilotlight: not started; mend the environment (pilotlight run --help lists it)\n');
    process.exitCode = EXIT_CONFIG;
    return;
  }

  // Whatever breaks, the heartbeats go on: the fault is said loudly, and the deployments live.
  const early: Fault[] = [];
  let tell = (fault: Fault): void => void early.push(fault);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: Error) => tell({ what: event, error }));

  const heart = hostHeart({
    baseUrl: settings.baseUrl,
    key: settings.apiKey,
    keyFile: files.get('apiKey'),
    deployments: deploymentChoices(settings),
  });
  if (settings.deployments.length > 0) await Promise.race([heart.firstExchange, delay(FIRST_BEATS_MS)]);

  const { keepDaemon } = await import('./keeper.ts');
  // Makes pipes non-blocking, which the other thread's writes rely on (standard-output.ts, logger.ts).
  void [process.stdout, process.stderr];
  const keeper = keepDaemon({ heart, settings, onQuit: signals.quit, say });
  signals.reload = () => keeper.reload();
  tell = (fault) => keeper.tell(fault);
  early.forEach(tell);
  collectAtRest();

  try {
    await Promise.race([signals.told, keeper.failed]);
  } catch (error) {
    say(`could not start: ${(error as Error).message}`);
    process.exit(EXIT_FAILED);
  }
  const stopped = await keeper.stop();
  if (!stopped) say('the daemon did not stop; log lines may be missing, the last heartbeats were sent');
  process.exit(stopped ? 0 : EXIT_FAILED);
}

function say(sentence: string): void {
  process.stderr.write(`pilotlight: ${sentence}\n`);
}
