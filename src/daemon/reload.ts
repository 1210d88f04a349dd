/** Changing the settings of a running daemon: all of them or none, and one change at a time. */
import type { Logger } from 'pino';
import { type ConfigProblem, describeProblem, isError } from '../config/problem.ts';
import type { ReloadResult } from './services/heartbeats.ts';
import type { LoadedConfig } from '../config/load.ts';
import {
  OPTIONS,
  OPTION_KEYS,
  PREFIX,
  SECRET_KEYS,
  type Option,
  type OptionKey,
  type Settings,
} from '../config/options/options.ts';

export interface ReloadOptions {
  readonly loadConfig: () => LoadedConfig;
  readonly settings: () => Settings;
  /** What is wrong with the settings in force: features are off for it. */
  readonly problems: () => readonly ConfigProblem[];
  /** Puts settings in force. When it rejects, it is called again with the old ones. */
  readonly apply: (settings: Settings, problems: readonly ConfigProblem[]) => Promise<void>;
  /** The heart loads its part. It comes before ours, once ours is known to be fine. */
  readonly reloadHeart: () => Promise<ReloadResult>;
  /** Nothing of it is loaded, the heart's part neither. */
  readonly refuseHeart: () => void;
  /** Whether it is too late: what is stopping takes no new work. */
  readonly stopping: () => boolean;
  /** Hears how each reload ended. */
  readonly reloaded: (successful: boolean) => void;
  readonly logger: Logger;
}

export interface Reloading {
  /** Reads everything again. A configuration with an error in it changes nothing. */
  reload(): Promise<ReloadResult>;
  /** Takes secrets whose files changed, and nothing else: other settings wait for a reload. */
  refreshSecrets(): Promise<void>;
}

export function createReloading(options: ReloadOptions): Reloading {
  const { loadConfig, settings, apply, stopping, reloaded, logger } = options;
  const describe = (problems: readonly ConfigProblem[]): string[] =>
    problems.filter((problem) => isError(problem)).map((problem) => describeProblem(problem));
  let queue: Promise<unknown> = Promise.resolve();

  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = queue.then(run);
    queue = turn.catch(() => {});
    return turn;
  }

  function refuse(problems: readonly string[], message: string): ReloadResult {
    reloaded(false);
    logger.error({ problems }, message);
    return { ok: false, problems };
  }

  async function reload(): Promise<ReloadResult> {
    if (stopping())
      return { ok: false, problems: ['the daemon is stopping; its next start reads it all anew'] };
    const loaded = loadConfig();
    // What was wrong before is off already, and keeps nothing else from being loaded.
    const known = describe(options.problems());
    const news = describe(loaded.problems).filter((problem) => !known.includes(problem));
    if (!loaded.settings || news.length > 0) options.refuseHeart();
    if (!loaded.settings || news.length > 0)
      return refuse(news, 'reload refused: the configuration is invalid; the old one stays in force');
    const heart = await options.reloadHeart();
    if (!heart.ok)
      return refuse(heart.problems, 'reload refused by the heart; the old configuration stays in force');
    const before = settings();
    const { kept, names } = restartOnly(before, loaded.settings);
    try {
      await apply({ ...loaded.settings, ...kept }, loaded.daemonProblems);
    } catch (error) {
      await apply(before, options.problems());
      const { message } = error as Error;
      return refuse([message], 'reload failed while it was applied; the old configuration is in force again');
    }
    reloaded(true);
    logger.info({ needRestart: names }, 'configuration reloaded');
    return { ok: true, problems: names.map((name) => `${name} changed; only a restart applies it`) };
  }

  async function refreshSecrets(): Promise<void> {
    if (stopping()) return;
    const before = settings();
    const { secrets } = loadConfig();
    // A file that is being replaced may be missing or empty for a moment: then the old secret stays.
    const changed = SECRET_KEYS.filter(
      (key) => secrets[key] !== undefined && secrets[key] !== before[key] && !onlyAtStart(key),
    );
    if (changed.length === 0) return;
    const next = { ...before, ...Object.fromEntries(changed.map((key) => [key, secrets[key]])) };
    await apply(next, options.problems());
    logger.info({ variables: changed.map((key) => PREFIX + OPTIONS[key].variable) }, 'secret read again');
  }

  return { reload: () => inTurn(reload), refreshSecrets: () => inTurn(refreshSecrets) };
}

function onlyAtStart(key: OptionKey): boolean {
  const option: Option = OPTIONS[key];
  return option.restart === true;
}

/** Options that a reload cannot change keep their old values; the names of those that would have. */
function restartOnly(
  before: Settings,
  after: Settings,
): { readonly kept: Partial<Settings>; readonly names: readonly string[] } {
  const changed = OPTION_KEYS.filter(
    (key) => onlyAtStart(key) && JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  return {
    kept: Object.fromEntries(changed.map((key) => [key, before[key]])),
    names: changed.map((key) => PREFIX + OPTIONS[key].variable),
  };
}
