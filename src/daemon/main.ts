/**
 * The daemon as a process, as far as its first heartbeat: signals, configuration, heartbeats. Only then is the rest
 * loaded, which takes longer than all of this.
 */
import { setFlagsFromString } from 'node:v8';
import { beginHeartbeats, startThread, tickTime, type Thread } from '../heartbeat/isolation/thread.ts';
import { describeProblem } from './config/describe.ts';
import { loadConfig } from './config/load.ts';
import { deploymentChoices } from './deployment-choices.ts';
import { listenForSignals } from './signals.ts';

const EXIT_CONFIG = 2;

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

/** @param thread For the heartbeats; one may have been started sooner. */
export async function runDaemon(thread: Thread = startThread()): Promise<void> {
  const signals = listenForSignals();
  for (const flag of V8_FLAGS) setFlagsFromString(flag);

  const config = loadConfig();
  const { settings } = config;
  if (!settings) {
    const errors = config.problems.filter(({ severity }) => severity !== 'note');
    for (const problem of errors) process.stderr.write(`${describeProblem(problem)}\n`);
    process.stderr.write('pilotlight: not started; mend the environment (pilotlight run --help lists it)\n');
    process.exitCode = EXIT_CONFIG;
    return;
  }

  const birth = {
    baseUrl: settings.baseUrl,
    key: settings.apiKey,
    keyFile: config.files.get('apiKey'),
    deployments: deploymentChoices(settings),
    lastTickAt: tickTime(),
  };
  const beating = beginHeartbeats(birth, thread);
  const { serve } = await import('./serve.ts');
  await serve({ ...config, settings }, beating, signals);
}
