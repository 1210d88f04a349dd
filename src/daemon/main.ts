/** The daemon as a process: the only place for signals, exit codes and flags of V8. */
import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { describeProblem } from './config/describe.ts';
import { loadConfig } from './config/load.ts';
import { serviceManagerSettings } from './config/service-manager.ts';
import { startDaemon, type Daemon } from './daemon.ts';
import { createLogger, stderrDestination } from './logger.ts';
import { createServiceManager } from './service-manager.ts';

const EXIT_CONFIG = 2;
const EXIT_FAILED = 1;
/** Longest time in ms that the last messages wait for a stderr that nobody reads. */
const FLUSH_MS = 500;

/**
 * The HTTP parser is WebAssembly, for a few kilobytes a minute: V8's first compiler is fast enough for it, and its
 * second takes 10 MB that it never gives back. What the first flag implies must be said once V8 runs.
 */
const ONE_WASM_COMPILER = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

export async function runDaemon(): Promise<void> {
  // First of all: as process 1 of a container a signal without a listener is ignored, and elsewhere it kills.
  const quit = Promise.withResolvers<void>();
  const destination = stderrDestination();
  const reload = listenForSignals(quit.resolve, (code) => {
    destination.abandon();
    process.exit(code);
  });
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
    await destination.end(FLUSH_MS);
    process.stderr.write(`pilotlight: could not start: ${(error as Error).message}\n`);
    process.exit(EXIT_FAILED);
  }

  // Whatever else breaks, the heartbeats go on: the fault is said loudly, and the deployment lives.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) =>
      daemon.logger.fatal({ err: error }, `${event}: please report this`),
    );
  }
  const manager = createServiceManager(serviceManagerSettings(), (error) =>
    daemon.logger.warn({ err: error }, 'systemd-notify failed; systemd does not know how this service fares'),
  );
  const status = `keeping deployments lit; status page at ${daemon.url}`;
  manager.ready(status);
  manager.watch(() => daemon.live());
  reload.listener = async () => {
    manager.reloading();
    await daemon.reload();
    manager.ready(status);
  };

  await quit.promise;
  manager.stopping();
  await daemon.stop();
  await destination.end(FLUSH_MS);
  process.exit(0);
}

/** SIGTERM and SIGINT quit; a second one ends the process at once, as the signal alone would have. */
function listenForSignals(
  quit: () => void,
  exit: (code: number) => void,
): { listener?: () => Promise<void> } {
  const reload: { listener?: () => Promise<void> } = {};
  let told = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (told) exit(128 + constants.signals[signal]);
      told = true;
      quit();
    });
  }
  process.on('SIGHUP', () => void reload.listener?.());
  return reload;
}
