/** The daemon as a process, from its first heartbeat to its end: its log, its exit codes, its service manager. */
import { openIsolatedHeart } from '../heartbeat/isolation/isolated-heart.ts';
import type { Beating } from '../heartbeat/isolation/thread.ts';
import { collectStartGarbage } from '../start-garbage.ts';
import { loadConfig } from './config/load.ts';
import { serviceManagerSettings } from './config/service-manager.ts';
import { startDaemon, type Daemon, type DaemonOptions } from './daemon.ts';
import { createLogger, stderrDestination } from './logger.ts';
import { createServiceManager } from './service-manager.ts';
import type { Signals } from './signals.ts';

const EXIT_FAILED = 1;
/** Longest time in ms that the last messages wait for a stderr that nobody reads. */
const FLUSH_MS = 500;

/** Does not return: it ends the process when it is told to. */
export async function serve(
  config: DaemonOptions['config'],
  beating: Beating,
  signals: Signals,
): Promise<never> {
  const { settings } = config;
  const destination = stderrDestination();
  signals.abandon = () => destination.abandon();

  let daemon: Daemon;
  try {
    daemon = await startDaemon({
      config,
      loadConfig,
      stdout: process.stdout,
      openHeart: (options) => openIsolatedHeart(options, beating),
      onQuit: signals.quit,
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
  signals.reload = async () => {
    manager.reloading();
    await daemon.reload();
    manager.ready(status);
  };

  collectStartGarbage();

  await signals.told;
  manager.stopping();
  await daemon.stop();
  await destination.end(FLUSH_MS);
  process.exit(0);
}
