/**
 * The thread of the daemon, all of it but the heartbeats, from its start to its end: its log, its standard output, its
 * service manager. What breaks here, the heartbeats do not notice (keeper.ts).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openIsolatedHeart } from '../heartbeat/isolation/isolated-heart.ts';
import { collectAtRest } from '../rest-collection.ts';
import { describeProblem } from '../config/describe.ts';
import { loadConfig } from '../config/load.ts';
import { serviceManagerSettings } from '../config/service-manager.ts';
import { startDaemon, type Daemon } from './daemon.ts';
import { createLogger, stderrDestination } from './logger.ts';
import { createServiceManager } from './service-manager.ts';
import { standardOutput } from './standard-output.ts';
import type { Command, Event, Fault, Inheritance } from './thread-protocol.ts';

/** Longest time in ms that the last messages wait for a stderr that nobody reads. */
const FLUSH_MS = 500;

if (parentPort === null) throw new Error('this is the entry of a worker thread');
const keeper = parentPort;
const { heart } = workerData as Inheritance;
const destination = stderrDestination();

try {
  serve(await start());
} catch (error) {
  await destination.end(FLUSH_MS);
  post({ type: 'failed', why: (error as Error).message });
  process.exit();
}

function start(): Promise<Daemon> {
  const { settings, ...config } = loadConfig();
  // The main thread has just read the same, unless this daemon follows one that ended, and a file changed meanwhile.
  if (!settings) throw new Error(config.problems.map((problem) => describeProblem(problem)).join('; '));
  return startDaemon({
    config: { ...config, settings },
    loadConfig,
    stdout: standardOutput(),
    openHeart: (options) => openIsolatedHeart(heart, options),
    onQuit: () => post({ type: 'quit' }),
    createLogger: (hooks) =>
      createLogger({ ...hooks, level: settings.logLevel, format: settings.logFormat, destination }),
  });
}

function serve(daemon: Daemon): void {
  const { logger } = daemon;
  const log = ({ what, error }: Fault): void => logger.fatal({ err: error }, `${what}: please report this`);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: Error) => log({ what: event, error }));

  const manager = createServiceManager(serviceManagerSettings(), (error) =>
    logger.warn({ err: error }, 'systemd-notify failed; systemd does not know how this service fares'),
  );
  const status = `keeping deployments lit; status page at ${daemon.url}`;
  manager.ready(status);
  manager.watch(() => daemon.live());

  keeper.on('message', (command: Command) => {
    switch (command.type) {
      case 'fault':
        return log(command.fault);
      case 'reload':
        return void reload();
      case 'stop':
        post({ type: 'stopping' });
        return void stop();
    }
  });
  post({ type: 'started' });
  collectAtRest();

  async function reload(): Promise<void> {
    manager.reloading();
    await daemon.reload();
    manager.ready(status);
  }

  async function stop(): Promise<void> {
    manager.stopping();
    await daemon.stop();
    await destination.end(FLUSH_MS);
    process.exit();
  }
}

function post(event: Event): void {
  keeper.postMessage(event);
}
