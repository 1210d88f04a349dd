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
import type { Metrics } from '../metrics.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { SharedWork } from './shared-work.ts';
import type { Heartbeats, ReloadResult } from './heartbeats.ts';

/** A reload changes them, and a secret that is read again. */
export interface CurrentSettings {
  settings: Settings;
  problems: readonly ConfigProblem[];
}

export interface ReloadingOptions {
  readonly loadConfig: () => LoadedConfig | Promise<LoadedConfig>;
  readonly current: CurrentSettings;
  readonly apiKey: ApiKey;
  readonly work: Pick<SharedWork, 'apply'>;
  /** The heart loads its part first, once the daemon's is valid. */
  readonly heartbeats: Pick<Heartbeats, 'reload' | 'refuseReload'>;
  /** The secrets may be in other files now. */
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

  /** A configuration with a new error changes nothing. */
  reload(): Promise<ReloadResult> {
    return this.#turns.take('reload', () => this.#reload());
  }

  /** Other settings wait for a reload. */
  refreshSecrets(): Promise<void> {
    return this.#turns.take('secrets', () => this.#refreshSecrets());
  }

  async #reload(): Promise<ReloadResult> {
    const { loadConfig, current, heartbeats, onFiles, lifecycle, metrics, logger } = this.#options;
    if (lifecycle.isEnding)
      return { ok: false, problems: ['the daemon is stopping; the next start reads everything again'] };
    const loaded = await loadConfig();
    // A feature with an old error is off already, and does not block the reload.
    const known = errorsIn(current.problems);
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
    const { settings } = current;
    const next = loaded.settings;
    // These keep their value until a restart.
    const waiting = OPTION_KEYS.filter(
      (key) => onlyAtStart(key) && JSON.stringify(settings[key]) !== JSON.stringify(next[key]),
    );
    const kept = Object.fromEntries(waiting.map((key) => [key, settings[key]]));
    const names = waiting.map((key) => PREFIX + OPTIONS[key].variable);
    await this.#apply({ ...next, ...kept }, loaded.daemonProblems, loaded.files.get('apiKey'));
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
    const { loadConfig, current, apiKey, lifecycle, logger } = this.#options;
    if (lifecycle.isEnding) return;
    const { settings, problems } = current;
    const { secrets } = await loadConfig();
    // A file that is being replaced may be missing or empty for a moment.
    const changed = SECRET_KEYS.filter(
      (key) => secrets[key] !== undefined && secrets[key] !== settings[key] && !onlyAtStart(key),
    );
    if (changed.length === 0) return;
    const next = { ...settings, ...Object.fromEntries(changed.map((key) => [key, secrets[key]])) };
    await this.#apply(next, problems, apiKey.file());
    logger.info({ variables: changed.map((key) => PREFIX + OPTIONS[key].variable) }, 'secret read again');
  }

  /** The loader has checked everything, so no value can make this fail. */
  async #apply(
    settings: Settings,
    problems: readonly ConfigProblem[],
    keyFile: string | undefined,
  ): Promise<void> {
    const { current, apiKey, work, logger } = this.#options;
    // A level set at run time stays until the setting changes.
    if (settings.logLevel !== current.settings.logLevel) logger.level = settings.logLevel;
    current.settings = settings;
    apiKey.replace(settings.apiKey, keyFile);
    await work.apply(settings);
    current.problems = problems;
  }
}

function onlyAtStart(key: OptionKey): boolean {
  const option: Option = OPTIONS[key];
  return option.restart === true;
}

/** Between two polls for a missing file. */
const POLL_EVERY_MS = 5_000;

/** Calls `onFound` once a missing file is there. Returns a function that ends the waiting. */
export function awaitFiles(
  problems: readonly ConfigProblem[],
  load: () => Promise<readonly ConfigProblem[]>,
  onFound: () => void,
): () => void {
  const missing = awaitedIn(problems);
  if (missing === 0) return () => {};
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  // A file may take seconds, so the next poll starts after this one.
  const plan = (): void => {
    if (!isEnded) timer = setTimeout(() => void look(), POLL_EVERY_MS);
  };
  const look = async (): Promise<void> => {
    const isFound = awaitedIn(await load()) < missing;
    if (isEnded) return;
    if (isFound) onFound();
    else plan();
  };
  plan();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

function awaitedIn(problems: readonly ConfigProblem[]): number {
  return problems.filter(({ awaitedFile }) => awaitedFile !== undefined).length;
}
