/** The heart's configuration, once the files that it names are there. */
import { isAwaited, type LoadedHeart } from '../../config/load-heart.ts';
import { describeProblem, type ConfigProblem } from '../../config/problem.ts';
import { BEFORE_THE_LOG } from './log/messages.ts';
import type { Stderr } from './log/stderr.ts';

/** Between two looks at files that are missing, ms. */
const LOOK_AGAIN_MS = 1_000;
/** Once a minute they are named. */
const LOOKS_PER_MESSAGE = 60;

export interface AwaitedConfigOptions {
  readonly load: () => LoadedHeart | Promise<LoadedHeart>;
  /** Those of the daemon's variables too, which the heart does not know. */
  readonly allProblems: () => Promise<readonly ConfigProblem[]>;
  readonly stderr: Pick<Stderr, 'write'>;
  /** Resolves when the program is told to end. */
  readonly told: Promise<void>;
}

export type CompleteConfig = LoadedHeart & { readonly settings: NonNullable<LoadedHeart['settings']> };

/** `refused`: it is invalid, and standard error says why. `told`: the program was told to end while it waited. */
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
    const pause = new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    if ((await Promise.race([told, pause])) === 'told') return 'told';
  }
}
