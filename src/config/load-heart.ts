/** Environment → the settings of the heart, all problems at once. Loads nothing that only the daemon needs. */
import { labelOf } from '../heartbeat/discovery/wanted.ts';
import { checkTiming } from '../heartbeat/engine/timing-check.ts';
import { HEART_OPTIONS, type HeartOptionKey, type HeartSettings } from './options/heart-options.ts';
import { foreignNames } from './options/names.ts';
import { exposedSecrets, placed, withEnvFile, type EffectiveEnvironment } from './env-file/effective.ts';
import { networkProblems, plainHttpProblems } from './network.ts';
import { PREFIX, type Option } from './options/option.ts';
import { overFiles } from './slow-files.ts';
import { configError, isError, type ConfigProblem } from './problem.ts';
import { loadValues, readText, type Environment, type LoadedValues, type ReadFile } from './values.ts';

export interface LoadedHeart {
  /**
   * Undefined where an error is in the way. The API key is empty while its file is not there: the heart begins all the
   * same, and looks for it.
   */
  readonly settings: HeartSettings | undefined;
  readonly problems: readonly ConfigProblem[];
  /** Options whose value comes from a file, with its path. */
  readonly files: ReadonlyMap<HeartOptionKey, string>;
  /** What is wrong and keeps nothing from being sent, which the daemon reports: unknown names, values that fell back. */
  readonly tolerated: readonly ConfigProblem[];
  /** Names that Kubernetes made for a Service. */
  readonly ignoredNames: readonly string[];
  /** Names whose value in the environment is not used, because ENV_FILE has one. */
  readonly overriddenNames: readonly string[];
}

export function loadHeartConfig(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): LoadedHeart {
  return loadHeartFrom(withEnvFile(environment, readFile, false), readFile);
}

/** The same, however long its files take; one that does not answer within seconds cannot be read. */
export function loadHeartSlowly(environment: Environment = process.env): Promise<LoadedHeart> {
  return overFiles((readFile) => loadHeartConfig(environment, readFile));
}

/** The same of an environment with the file over it. While that cannot be read, it is all that is wrong. */
export function loadHeartFrom(effective: EffectiveEnvironment, readFile: ReadFile): LoadedHeart {
  const { environment, isAwaited: waits, problems: ofFile, overridden: overriddenNames } = effective;
  if (waits)
    return {
      settings: undefined,
      problems: ofFile,
      files: new Map(),
      tolerated: [],
      ignoredNames: [],
      overriddenNames,
    };
  const loaded = loadValues(HEART_OPTIONS, environment, readFile);
  const { files } = loaded;
  const { values, fatal: own, tolerated } = fallBack(loaded);
  const { fatal: misspelt, unknown, ignored } = foreignNames(environment);
  const found = [
    ...misspelt,
    ...own,
    ...networkProblems(environment, readFile),
    ...plainHttpProblems(HEART_OPTIONS.baseUrl.variable, values.baseUrl, 'the API key'),
    ...appLoginProblems(values as Partial<HeartSettings>),
  ];
  const problems = [...ofFile, ...placed(found, effective), ...exposedSecrets(HEART_OPTIONS, effective)];
  const fatal = problems.some((problem) => isError(problem) && !isKeyAwaited(problem));
  const settings = fatal ? undefined : Object.freeze({ apiKey: '', ...values } as HeartSettings);
  return {
    settings,
    problems,
    files,
    tolerated: placed([...tolerated, ...unknown], effective),
    ignoredNames: ignored,
    overriddenNames,
  };
}

/** What is to be kept alive, and where: of these nothing is guessed. */
const ESSENTIAL: ReadonlySet<HeartOptionKey> = new Set(['apiKey', 'baseUrl', 'deployments']);

/** Any other malformed value, or one whose file is not there, is the default. */
function fallBack({ values, broken, problems }: LoadedValues<HeartOptionKey>): {
  readonly values: Partial<Record<HeartOptionKey, unknown>>;
  readonly fatal: readonly ConfigProblem[];
  readonly tolerated: readonly ConfigProblem[];
} {
  const complete = { ...values };
  const isTolerated = new Set<string>();
  const fallTo = (key: HeartOptionKey): void => {
    const { variable, fallback, type }: Option = HEART_OPTIONS[key];
    isTolerated.add(variable);
    complete[key] = fallback === undefined ? undefined : type.parse(fallback).value;
  };
  for (const key of broken) if (!ESSENTIAL.has(key)) fallTo(key);
  let timing = timingProblems(complete as Partial<HeartSettings>);
  const ofInterval = timing.filter(({ variable }) => variable === INTERVAL);
  if (ofInterval.length > 0) {
    fallTo('heartbeatInterval');
    // With its default another TTL may be too short.
    timing = timingProblems(complete as Partial<HeartSettings>);
  }
  const { fatal = [], tolerated = [] } = Object.groupBy([...problems, ...ofInterval, ...timing], (problem) =>
    isError(problem) && isTolerated.has(variableOf(problem)) ? 'tolerated' : 'fatal',
  );
  return { values: complete, fatal, tolerated: tolerated.map(withDefault) };
}

/** Without the prefix, the place inside the value and `_FILE`. */
function variableOf({ variable }: ConfigProblem): string {
  return (
    /^\w+/
      .exec(variable)?.[0]
      .slice(PREFIX.length)
      .replace(/_FILE$/, '') ?? ''
  );
}

function withDefault(problem: ConfigProblem): ConfigProblem {
  const { message } = problem;
  const used = 'the default is used';
  return { ...problem, message: message ? `${message}; ${used}` : used };
}

/** Whether all that is in the way are files that may still come. */
export function isAwaited(problems: readonly ConfigProblem[]): boolean {
  return problems.filter((problem) => isError(problem)).every(({ awaitedFile }) => awaitedFile !== undefined);
}

function isKeyAwaited({ variable, awaitedFile }: ConfigProblem): boolean {
  return awaitedFile !== undefined && variable === `${PREFIX}${HEART_OPTIONS.apiKey.variable}_FILE`;
}

function appLoginProblems({ appHealth }: Partial<HeartSettings>): ConfigProblem[] {
  if (appHealth === undefined) return [];
  const { username, password } = new URL(appHealth);
  if (username + password === '') return [];
  return plainHttpProblems(HEART_OPTIONS.appHealth.variable, appHealth, 'the login in it');
}

const INTERVAL = PREFIX + HEART_OPTIONS.heartbeatInterval.variable;

/** Refuses TTLs and intervals with which one failed heartbeat may already be the last. */
function timingProblems({
  deployments = [],
  deploymentTtl,
  heartbeatInterval,
}: Partial<HeartSettings>): ConfigProblem[] {
  if (heartbeatInterval === undefined) return [];
  return deployments.flatMap((wanted) => {
    const problem = checkTiming({ ttl: wanted.ttlMs ?? deploymentTtl, interval: heartbeatInterval });
    if (!problem) return [];
    const { change, got, atLeast, atMost, message } = problem;
    const limit = atLeast === undefined ? `at most ${(atMost ?? 0) / 1000}s` : `at least ${atLeast / 1000}s`;
    const variable = change === 'interval' ? INTERVAL : `${PREFIX}DEPLOYMENTS`;
    return [configError(variable, `${got / 1000}s for deployment ${labelOf(wanted)}`, limit, message)];
  });
}
