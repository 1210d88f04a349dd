/** The daemon in its process, until the link ends. */
import { credentialsOf } from '../../config/secrets.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { endProcess } from '../../client/slow-file.ts';
import { loadConfigSlowly } from '../../config/load.ts';
import { describeProblem } from '../../config/problem.ts';
import { Redaction } from '../../contract/text/redaction.ts';
import {
  DAEMON_STDERR,
  DAEMON_STDOUT,
  type DaemonMessage,
  type HeartMessage,
  type Link,
} from '../../heartbeat/process/link.ts';
import { openStderr } from '../../heartbeat/process/log.ts';
import { startDaemon, type Daemon } from '../daemon.ts';
import { createLogger } from './logger.ts';
import { standardOutput } from './standard-output.ts';

/** For the last messages, if stderr is not read. */
const FLUSH_MS = 500;
/** For an orderly end without a heart: the next one needs the ports and files. */
const ORPHAN_MS = 2_000;
/** Kept from the time for the end, for the last messages. */
const END_MS = 300;

const destination = openStderr(DAEMON_STDERR);
const link: Link<DaemonMessage, HeartMessage> = {
  send(message) {
    // `disconnect` reports the end of the channel.
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  },
  listen(hear) {
    process.on('message', (message) => hear(message as HeartMessage));
  },
};
let daemon: Daemon | undefined;
let ending = false;
process.on('disconnect', () => {
  void end(ORPHAN_MS);
  // It may be ending already, with more time.
  setTimeout(() => endProcess(EXIT.ok), ORPHAN_MS);
});

process.report.excludeEnv = true;
let redaction: Redaction | undefined;
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => {
    if (daemon) daemon.logger.fatal({ err: error }, `${event}: please report this`);
    else fail(error);
  });

const { settings, ...config } = await loadConfigSlowly();
if (settings === undefined) {
  const problems = config.problems.map((problem) => describeProblem(problem)).join('; ');
  process.stderr.write(`pilotlight: the daemon cannot start: ${problems}\n`);
  endProcess(EXIT.failed);
}
redaction = new Redaction(() => credentialsOf(settings, settings.apiKey));
daemon = await startDaemon({
  config: { ...config, settings },
  loadConfig: loadConfigSlowly,
  stdout: standardOutput(DAEMON_STDOUT),
  heart: link,
  restarts: Number(process.argv[2] ?? 0),
  onEnd: (withinMs) => void end(withinMs),
  createLogger: (hooks) =>
    createLogger({ ...hooks, level: settings.logLevel, format: settings.logFormat, destination }),
}).catch(fail);

/** Node itself would print all fields of an error, secrets too. */
function fail(error: unknown): never {
  const { stack = String(error) } = error instanceof Error ? error : {};
  process.stderr.write(
    `pilotlight: the daemon cannot start: ${redaction?.text(stack) ?? 'a fault before its configuration was read'}\n`,
  );
  endProcess(EXIT.failed);
}

async function end(withinMs: number): Promise<void> {
  if (ending) return;
  ending = true;
  await daemon?.stop(Math.max(0, withinMs - END_MS));
  await destination.flush(Math.min(FLUSH_MS, END_MS));
  link.send({ type: 'stopped' });
  endProcess(EXIT.ok);
}
