/**
 * `pilotlight run`: the heart, this process, with the daemon as a child. It ends by SIGTERM, SIGINT or POST
 * /-/quit, or if its own configuration is invalid (exit 2).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT, exitCodeOfSignal } from '../../config/exit-codes.ts';
import { describeProblem, type ConfigProblem } from '../../config/problem.ts';
import { isAwaited, loadHeartSlowly, type LoadedHeart } from '../../config/load-heart.ts';
import { serviceManagerSettings } from '../../config/other-variables.ts';
import { endProcess } from '../../client/slow-file.ts';
import { HeartService } from './heart-service.ts';
import { openStderr, BEFORE_THE_LOG, type Stderr } from './log.ts';
import { keepSecretsOutOfDumps, makeThreads } from './system.ts';
import { takeEarlySignals } from './early-signals.ts';

/** Starting the daemon would slow down the first heartbeats, ms. */
const FIRST_BEATS_MS = 100;
/** For the last messages, ms. */
const FLUSH_MS = 500;

/** `allProblems`: also those of the daemon's variables, which the heart does not know. */
export async function runHeart(allProblems: () => Promise<readonly ConfigProblem[]>): Promise<void> {
  makeThreads();
  keepSecretsOutOfDumps();
  const stderr = openStderr();
  const signals = listenForSignals();
  const loaded = await awaitConfig({ load: loadHeartSlowly, allProblems, stderr, told: signals.told });
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

/** Between two looks at missing files, ms. */
const LOOK_AGAIN_MS = 1_000;
const LOOKS_PER_MESSAGE = 60;

interface AwaitedConfigOptions {
  readonly load: () => LoadedHeart | Promise<LoadedHeart>;
  /** Also those of the daemon's variables, which the heart does not know. */
  readonly allProblems: () => Promise<readonly ConfigProblem[]>;
  readonly stderr: Pick<Stderr, 'write'>;
  /** Resolves when the program is told to end. */
  readonly told: Promise<void>;
}

type CompleteConfig = LoadedHeart & { readonly settings: NonNullable<LoadedHeart['settings']> };

/** `refused`: standard error says why. `told`: the program was told to end. */
export async function awaitConfig(
  options: AwaitedConfigOptions,
): Promise<CompleteConfig | 'refused' | 'told'> {
  const { load, allProblems, stderr } = options;
  const print = (problems: readonly ConfigProblem[], message: string): void => {
    for (const line of [...problems.map((one) => describeProblem(one)), message]) stderr.write(`${line}\n`);
  };
  const told = options.told.then(() => 'told' as const);
  for (let looks = 0; ; looks += 1) {
    const loaded = await Promise.race([told, load()]);
    if (loaded === 'told') return loaded;
    const { settings, problems } = loaded;
    if (settings) return { ...loaded, settings };
    if (!isAwaited(problems)) {
      const serious = (await allProblems()).filter(({ severity }) => severity !== 'note');
      print(serious, BEFORE_THE_LOG.notStarted);
      return 'refused';
    }
    if (looks % LOOKS_PER_MESSAGE === 0) print(problems, BEFORE_THE_LOG.waiting);
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))]);
  }
}

interface Signals {
  /** Resolves with the first SIGTERM or SIGINT, or when `quit` is called. */
  readonly told: Promise<void>;
  readonly quit: () => void;
  /** What SIGHUP does. */
  reload: () => void;
}

/** By default they end this program, or open Node's debugger to everybody here. */
const OF_OTHERS = ['SIGUSR1', 'SIGUSR2'] as const;

/** To be called first: process 1 of a container ignores a signal without a listener. */
function listenForSignals(): Signals {
  const { promise: told, resolve: quit } = Promise.withResolvers<void>();
  const signals: Signals = { told, quit, reload: () => {} };
  let once = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (once) endProcess(exitCodeOfSignal(signal));
      once = true;
      quit();
    });
  }
  process.on('SIGHUP', () => signals.reload());
  for (const signal of OF_OTHERS) process.on(signal, () => {});
  for (const signal of takeEarlySignals()) process.emit(signal, signal);
  return signals;
}
