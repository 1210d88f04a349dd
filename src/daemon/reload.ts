/** Changing the settings of a running daemon: all of them or none, and one change at a time. */
import type { Logger } from 'pino';
import { describeProblem } from '../config/describe.ts';
import type { LoadedConfig } from '../config/load.ts';
import {
  OPTIONS,
  OPTION_KEYS,
  PREFIX,
  SECRET_KEYS,
  type Option,
  type OptionKey,
  type Settings,
} from '../config/options.ts';

export interface ReloadResult {
  readonly ok: boolean;
  /** What was wrong, or what only a restart can change; in words. */
  readonly problems: readonly string[];
}

export interface ReloadOptions {
  readonly loadConfig: () => LoadedConfig;
  readonly settings: () => Settings;
  /** Puts settings in force. When it rejects, it is called again with the old ones. */
  readonly apply: (settings: Settings) => Promise<void>;
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
    if (!loaded.settings) {
      return refuse(
        loaded.problems.map((problem) => describeProblem(problem)),
        'reload refused: the configuration is invalid; the old one stays in force',
      );
    }
    const before = settings();
    const { kept, names } = restartOnly(before, loaded.settings);
    try {
      await apply({ ...loaded.settings, ...kept });
    } catch (error) {
      await apply(before);
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
    await apply({ ...before, ...Object.fromEntries(changed.map((key) => [key, secrets[key]])) });
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
