/** Changing the settings of a running daemon: all of them or none, and one change at a time. */
import type { Logger } from 'pino';
import type { ApiKey } from '../../client/api-key.ts';
import type { LoadedConfig } from '../../config/load.ts';
import {
  OPTIONS,
  OPTION_KEYS,
  PREFIX,
  SECRET_KEYS,
  type Option,
  type OptionKey,
  type Settings,
} from '../../config/options.ts';
import { describeProblem, errorsIn, type ConfigProblem } from '../../config/problem.ts';
import { Turns } from '../../time/repeating.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { SharedWork } from '../replicas/shared-work.ts';
import type { Heartbeats, ReloadResult } from './heartbeats.ts';

/** The configuration as it is now. Only a reload writes to it. */
export interface InForce {
  settings: Settings;
  /** What is wrong with it: features are off for it. */
  problems: readonly ConfigProblem[];
}

export interface ReloadingOptions {
  readonly loadConfig: () => LoadedConfig | Promise<LoadedConfig>;
  readonly inForce: InForce;
  readonly apiKey: ApiKey;
  readonly work: Pick<SharedWork, 'apply'>;
  /** The heart loads its part first, once the daemon's is known to be fine. */
  readonly heartbeats: Pick<Heartbeats, 'reload' | 'refuseReload'>;
  /** Other files may have the secrets now. */
  readonly onFiles: (files: LoadedConfig['files']) => void;
  readonly lifecycle: Pick<Lifecycle, 'isEnding'>;
  readonly metrics: Pick<Metrics, 'reloaded'>;
  readonly logger: Logger;
}

export class Reloading {
  readonly #options: ReloadingOptions;
  readonly #turns = new Turns();

  constructor(options: ReloadingOptions) {
    this.#options = options;
  }

  /** Reads everything again. A configuration with an error in it changes nothing. */
  reload(): Promise<ReloadResult> {
    return this.#turns.take('reload', () => this.#reload());
  }

  /** Takes secrets whose files changed, and nothing else: other settings wait for a reload. */
  refreshSecrets(): Promise<void> {
    return this.#turns.take('secrets', () => this.#refreshSecrets());
  }

  async #reload(): Promise<ReloadResult> {
    const { loadConfig, inForce, apiKey, heartbeats, onFiles, lifecycle, metrics, logger } = this.#options;
    if (lifecycle.isEnding)
      return { ok: false, problems: ['the daemon is stopping; the next start reads everything again'] };
    const loaded = await loadConfig();
    // What was wrong before is off already, and does not keep the rest from being loaded.
    const known = errorsIn(inForce.problems);
    const news = errorsIn(loaded.problems).filter((problem) => !known.includes(problem));
    if (!loaded.settings || news.length > 0) {
      heartbeats.refuseReload();
      return this.#refuse(news, 'reload refused: the configuration is invalid; the old one stays in force');
    }
    const heart = await heartbeats.reload();
    if (heart.isUnanswered)
      return { ...this.#refuse(heart.problems, 'reload not answered by the heart'), isUnanswered: true };
    if (!heart.ok)
      return this.#refuse(
        heart.problems,
        'reload refused by the heart; the old configuration stays in force',
      );
    const { settings, problems } = inForce;
    const next = loaded.settings;
    // Options that a reload cannot change keep their old values.
    const waiting = OPTION_KEYS.filter(
      (key) => onlyAtStart(key) && JSON.stringify(settings[key]) !== JSON.stringify(next[key]),
    );
    const kept = Object.fromEntries(waiting.map((key) => [key, settings[key]]));
    const names = waiting.map((key) => PREFIX + OPTIONS[key].variable);
    const keyFile = apiKey.file();
    try {
      await this.#apply({ ...next, ...kept }, loaded.daemonProblems, loaded.files.get('apiKey'));
    } catch (error) {
      await this.#apply(settings, problems, keyFile);
      const { message } = error as Error;
      return this.#refuse(
        [message],
        'reload failed while it was applied; the old configuration is in force again',
      );
    }
    onFiles(loaded.files);
    metrics.reloaded(true, Date.now() / 1000);
    logger.info({ needRestart: names }, 'configuration reloaded');
    const ignored = loaded.daemonProblems.filter(({ failsCheck }) => failsCheck);
    for (const { failsCheck: _, ...shown } of ignored) logger.warn(shown, 'configuration problem');
    return {
      ok: true,
      problems: [
        ...names.map((name) => `${name} changed; only a restart applies it`),
        ...ignored.map((problem) => describeProblem(problem)),
      ],
    };
  }

  #refuse(problems: readonly string[], message: string): ReloadResult {
    const { metrics, logger } = this.#options;
    metrics.reloaded(false, Date.now() / 1000);
    logger.error({ problems }, message);
    return { ok: false, problems };
  }

  async #refreshSecrets(): Promise<void> {
    const { loadConfig, inForce, apiKey, lifecycle, logger } = this.#options;
    if (lifecycle.isEnding) return;
    const { settings, problems } = inForce;
    const { secrets } = await loadConfig();
    // A file that is being replaced may be missing or empty for a moment: then the old secret stays.
    const changed = SECRET_KEYS.filter(
      (key) => secrets[key] !== undefined && secrets[key] !== settings[key] && !onlyAtStart(key),
    );
    if (changed.length === 0) return;
    const next = { ...settings, ...Object.fromEntries(changed.map((key) => [key, secrets[key]])) };
    await this.#apply(next, problems, apiKey.file());
    logger.info({ variables: changed.map((key) => PREFIX + OPTIONS[key].variable) }, 'secret read again');
  }

  /** Nothing here can fail because of what a configuration says: all of that was checked before. */
  async #apply(
    settings: Settings,
    problems: readonly ConfigProblem[],
    keyFile: string | undefined,
  ): Promise<void> {
    const { inForce, apiKey, work, logger } = this.#options;
    // A level that was set at run time stays, unless it is the setting that changed.
    if (settings.logLevel !== inForce.settings.logLevel) logger.level = settings.logLevel;
    inForce.settings = settings;
    apiKey.replace(settings.apiKey, keyFile);
    await work.apply(settings);
    inForce.problems = problems;
  }
}

function onlyAtStart(key: OptionKey): boolean {
  const option: Option = OPTIONS[key];
  return option.restart === true;
}
