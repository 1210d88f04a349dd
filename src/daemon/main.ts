/** The daemon as a process: the only place for signals, exit codes and flags of V8. */
import { setFlagsFromString } from 'node:v8';
import { createLogger, stderrDestination } from './logger.ts';
import { describeProblem } from './config/describe.ts';
import { loadConfig } from './config/load.ts';
import { startDaemon, type Daemon } from './daemon.ts';

const EXIT_CONFIG = 2;
const EXIT_FAILED = 1;
/** What a shell reports for a process that a second signal ended. */
const EXIT_FORCED = 130;

/**
 * The HTTP parser is WebAssembly, for a few kilobytes a minute: V8's first compiler is fast enough for it, and its
 * second takes 10 MB that it never gives back. What the first flag implies must be said once V8 runs.
 */
const ONE_WASM_COMPILER = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

export async function runDaemon(): Promise<void> {
  for (const flag of ONE_WASM_COMPILER) setFlagsFromString(flag);
  const config = loadConfig();
  const { settings } = config;
  if (!settings) {
    const errors = config.problems.filter(({ severity }) => severity !== 'note');
    for (const problem of errors) process.stderr.write(`${describeProblem(problem)}\n`);
    process.stderr.write('pilotlight: not started; mend the environment (pilotlight run --help lists it)\n');
    process.exitCode = EXIT_CONFIG;
    return;
  }

  const destination = stderrDestination();
  const quit = Promise.withResolvers<void>();
  let daemon: Daemon;
  try {
    daemon = await startDaemon({
      config: { ...config, settings },
      loadConfig,
      stdout: process.stdout,
      onQuit: () => quit.resolve(),
      createLogger: (hooks) =>
        createLogger({ ...hooks, level: settings.logLevel, format: settings.logFormat, destination }),
    });
  } catch (error) {
    destination.flushSync();
    process.stderr.write(`pilotlight: could not start: ${(error as Error).message}\n`);
    process.exit(EXIT_FAILED);
  }

  // Whatever else breaks, the heartbeats go on: the fault is said loudly, and the deployment lives.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) =>
      daemon.logger.fatal({ err: error }, `${event}: please report this`),
    );
  }
  process.on('SIGHUP', () => void daemon.reload());
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      for (const again of ['SIGTERM', 'SIGINT']) process.once(again, () => process.exit(EXIT_FORCED));
      quit.resolve();
    });
  }
  await quit.promise;
  await daemon.stop();
  destination.flushSync();
  process.exit(0);
}
