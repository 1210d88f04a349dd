/**
 * `pilotlight run`: the heart, this process. It sends the heartbeats, and keeps everything else running as one child
 * process, the daemon, which starts once the first heartbeats have left. Only this file handles signals and exit
 * codes.
 *
 * It ends for two reasons: it is told to, by SIGTERM, SIGINT or POST /-/quit; or its own part of the configuration is
 * invalid (exit 2). Everything else that fails is tried again, without end.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT } from '../../config/exit-codes.ts';
import { describeProblem, type ConfigProblem } from '../../config/problem.ts';
import { isAwaited, loadHeartConfig, type LoadedHeart } from '../../config/load-heart.ts';
import { serviceManagerSettings } from '../../config/service-manager.ts';
import { keepSecretsOutOfDumps } from './dumps.ts';
import { HeartService } from './heart-service.ts';
import { listenForSignals, type Signals } from './link/signals.ts';
import { openStderr, type Stderr } from './log/stderr.ts';

/** How long the daemon waits for the answers to the first heartbeats, ms: starting it would slow them down. */
const FIRST_BEATS_MS = 100;
/** Between two looks at files that are missing, and between two messages about them, ms. */
const LOOK_AGAIN_MS = 1_000;
const SAY_AGAIN_MS = 60_000;
/** How long writing the last messages may take, ms. */
const FLUSH_MS = 500;

/** `allProblems`: those of the daemon's variables too, which the heart does not know. */
export async function runHeart(allProblems: () => Promise<readonly ConfigProblem[]>): Promise<void> {
  keepSecretsOutOfDumps();
  const stderr = openStderr();
  const signals = listenForSignals();
  const loaded = await loadWhenThere(stderr, signals, allProblems);
  if (loaded === undefined) return;

  const service = new HeartService({ ...loaded, loadConfig: () => loadHeartConfig(), stderr });
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => service.fault(event, error));
  if (loaded.settings.deployments.length > 0)
    await Promise.race([service.firstExchange, delay(FIRST_BEATS_MS)]);

  signals.reload = () => service.reload();
  service.startDaemon({ onQuit: signals.quit, serviceManager: serviceManagerSettings() });
  await signals.told;
  const { leftMs } = await service.stop();
  await stderr.flush(Math.min(FLUSH_MS, leftMs));
  process.exit(EXIT.ok);
}

type Complete = LoadedHeart & { readonly settings: NonNullable<LoadedHeart['settings']> };

/** Waits for files of NAME_FILE variables. Undefined: the program ends, and its exit code is set. */
async function loadWhenThere(
  stderr: Stderr,
  signals: Signals,
  allProblems: () => Promise<readonly ConfigProblem[]>,
): Promise<Complete | undefined> {
  let saidAt = -Infinity;
  for (;;) {
    const loaded = loadHeartConfig();
    const { settings, problems } = loaded;
    if (settings) return { ...loaded, settings };
    if (!isAwaited(problems)) {
      await refuse(stderr, await allProblems());
      return undefined;
    }
    if (performance.now() - saidAt >= SAY_AGAIN_MS) {
      saidAt = performance.now();
      for (const problem of problems) stderr.write(`${describeProblem(problem)}\n`);
      stderr.write('pilotlight: waiting for these files; nothing is kept alive until they are there\n');
    }
    const told = signals.told.then(() => 'told' as const);
    if ((await Promise.race([told, delay(LOOK_AGAIN_MS)])) === 'told') return undefined;
  }
}

async function refuse(stderr: Stderr, problems: readonly ConfigProblem[]): Promise<void> {
  const serious = problems.filter(({ severity }) => severity !== 'note');
  for (const problem of serious) stderr.write(`${describeProblem(problem)}\n`);
  stderr.write('pilotlight: not started; fix the environment (pilotlight run --help lists it)\n');
  await stderr.flush(FLUSH_MS);
  process.exitCode = EXIT.usage;
}
