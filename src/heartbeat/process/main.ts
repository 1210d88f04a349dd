/**
 * `pilotlight run`: the heart, this process. It sends the heartbeats, and keeps everything else running as one child
 * process, the daemon. It ends when it is told to, by SIGTERM, SIGINT or POST /-/quit, or if its own part of the
 * configuration is invalid (exit 2). Everything else that fails is tried again, without end.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT } from '../../config/exit-codes.ts';
import type { ConfigProblem } from '../../config/problem.ts';
import { loadHeartSlowly } from '../../config/load-heart.ts';
import { serviceManagerSettings } from '../../config/other-variables.ts';
import { awaitConfig } from './awaited-config.ts';
import { endProcess } from '../../client/slow-file.ts';
import { HeartService } from './heart-service.ts';
import { listenForSignals } from './link/signals.ts';
import { openStderr } from './log/stderr.ts';
import { keepSecretsOutOfDumps, makeThreads } from './system.ts';

/** How long the daemon waits for the answers to the first heartbeats, ms: starting it would slow them down. */
const FIRST_BEATS_MS = 100;
/** How long writing the last messages may take, ms. */
const FLUSH_MS = 500;

/** `allProblems`: those of the daemon's variables too, which the heart does not know. */
export async function runHeart(allProblems: () => Promise<readonly ConfigProblem[]>): Promise<void> {
  makeThreads();
  keepSecretsOutOfDumps();
  const stderr = openStderr();
  const signals = listenForSignals();
  const loaded = await awaitConfig({
    load: loadHeartSlowly,
    allProblems,
    stderr,
    told: signals.told,
  });
  if (loaded === 'refused') {
    await stderr.flush(FLUSH_MS);
    process.exitCode = EXIT.usage;
  }
  if (loaded === 'told') endProcess(EXIT.ok);
  if (loaded === 'refused') return;

  const service = new HeartService({ ...loaded, loadConfig: loadHeartSlowly, stderr });
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => service.fault(event, error));
  if (loaded.settings.deployments.length > 0)
    await Promise.race([service.firstExchange, delay(FIRST_BEATS_MS)]);

  signals.reload = () => service.reload();
  service.startDaemon({ onQuit: signals.quit, serviceManager: serviceManagerSettings() });
  await signals.told;
  const { leftMs } = await service.stop();
  await stderr.flush(Math.min(FLUSH_MS, leftMs));
  endProcess(EXIT.ok);
}
