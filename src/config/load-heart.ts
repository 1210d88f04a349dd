import {
  exposedSecrets,
  FILE_NAMES,
  placed,
  withEnvFile,
  type EffectiveEnvironment,
  loadValues,
  type Environment,
  type LoadedValues,
} from './values.ts';
import { overFiles, readText, type ReadFile } from './files.ts';
import {
  HEART_OPTIONS,
  PREFIX,
  type HeartKey,
  type HeartSettings,
  type Option,
  valueOf,
  OPTIONS,
} from './options.ts';
import { networkProblems, plainHttpProblems } from './other-variables.ts';
import { configError, isError, type ConfigProblem, configWarning } from './problem.ts';
import { nearestName } from '../contract/text/nearest-name.ts';
import { labelOf } from '../heartbeat/discovery/wanted.ts';
import { checkTiming } from '../heartbeat/engine/formulas.ts';

export interface LoadedHeart {
  /** Undefined after an error. The key is empty while its file is missing: the heart looks for it. */
  readonly settings: HeartSettings | undefined;
  /** Notes name the variables whose value in the environment is not used. */
  readonly problems: readonly ConfigProblem[];
  readonly files: ReadonlyMap<HeartKey, string>;
  /** Unknown names, and values that fell back to their default. The daemon reports them. */
  readonly tolerated: readonly ConfigProblem[];
  readonly ignoredNames: readonly string[];
}

export function loadHeartConfig(
  environment: Environment = process.env,
  readFile: ReadFile = readText,
): LoadedHeart {
  return loadHeartFrom(withEnvFile(environment, readFile), readFile);
}

/** The same, without blocking this process. */
export function loadHeartSlowly(environment: Environment = process.env): Promise<LoadedHeart> {
  return overFiles((readFile) => loadHeartConfig(environment, readFile));
}

/** While the environment file cannot be read, that is the only problem. */
export function loadHeartFrom(effective: EffectiveEnvironment, readFile: ReadFile): LoadedHeart {
  const { environment, awaits, problems: ofFile } = effective;
  if (awaits)
    return { settings: undefined, problems: ofFile, files: new Map(), tolerated: [], ignoredNames: [] };
  const loaded = loadValues(HEART_OPTIONS, environment, readFile);
  const { values, tolerated, remaining } = fallBack(loaded);
  const names = unknownNames(environment);
  const found = [
    ...names.problems.filter(isError),
    ...remaining,
    ...networkProblems(environment, readFile),
    ...plainHttpProblems(HEART_OPTIONS.baseUrl.variable, values.baseUrl, 'the API key'),
    ...appLoginProblems(values),
  ];
  const problems = [...ofFile, ...placed(found, effective), ...exposedSecrets(HEART_OPTIONS, effective)];
  // The only error about this variable is that its file cannot be read yet.
  const keyFile = `${PREFIX}${HEART_OPTIONS.apiKey.variable}_FILE`;
  const isFatal = problems.some((problem) => isError(problem) && problem.variable !== keyFile);
  return {
    settings: isFatal ? undefined : Object.freeze({ apiKey: '', ...values } as HeartSettings),
    problems,
    files: loaded.files,
    tolerated: placed([...tolerated, ...names.problems.filter((problem) => !isError(problem))], effective),
    ignoredNames: names.ignored,
  };
}

/** Malformed values, and values whose file is missing, become their default, unless they are essential. */
function fallBack({ values, broken, problemsOf }: LoadedValues<HeartKey>) {
  const complete = { ...values };
  let remaining: readonly ConfigProblem[] = [];
  const tolerated: ConfigProblem[] = [];
  const fallTo = (option: Option, key: HeartKey, errors: readonly ConfigProblem[]): void => {
    complete[key] = valueOf(option, option.fallback);
    tolerated.push(...errors.map((problem) => withDefault(problem, option)));
  };
  for (const [key, problems] of problemsOf) {
    const option: Option = HEART_OPTIONS[key];
    const falls = broken.has(key) && !option.essential;
    if (falls) fallTo(option, key, problems.filter(isError));
    remaining = remaining.concat(falls ? problems.filter((problem) => !isError(problem)) : problems);
  }
  const isOfInterval = ({ variable }: ConfigProblem): boolean => variable === INTERVAL;
  let timing = timingProblems(complete as Partial<HeartSettings>);
  if (timing.some(isOfInterval)) {
    fallTo(HEART_OPTIONS.heartbeatInterval, 'heartbeatInterval', timing.filter(isOfInterval));
    // With the default interval another TTL may be too short.
    timing = timingProblems(complete as Partial<HeartSettings>);
  }
  return { values: complete as Partial<HeartSettings>, tolerated, remaining: remaining.concat(timing) };
}

function withDefault(problem: ConfigProblem, { fallback, unset = '' }: Option): ConfigProblem {
  const { message } = problem;
  const used = fallback === undefined ? `ignoring it: ${unset}` : `using the default, ${fallback}`;
  return { ...problem, message: message ? `${message}; ${used}` : used };
}

export function isAwaited(problems: readonly ConfigProblem[]): boolean {
  return problems.filter((problem) => isError(problem)).every(({ awaitedFile }) => awaitedFile !== undefined);
}

function appLoginProblems({ appHealth }: Partial<HeartSettings>): ConfigProblem[] {
  if (appHealth === undefined) return [];
  const { username, password } = new URL(appHealth);
  if (username + password === '') return [];
  return plainHttpProblems(HEART_OPTIONS.appHealth.variable, appHealth, 'the login in it');
}

const INTERVAL = PREFIX + HEART_OPTIONS.heartbeatInterval.variable;

/** Refuses timing with which a single failed heartbeat may end a deployment. */
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
    const variable = change === 'interval' ? INTERVAL : PREFIX + HEART_OPTIONS.deployments.variable;
    return [configError(variable, `${got / 1000}s for deployment ${labelOf(wanted)}`, limit, message)];
  });
}

const ROWS: readonly Option[] = Object.values(OPTIONS);
const IS_KNOWN: ReadonlySet<string> = new Set([
  ...ROWS.map(({ variable }) => PREFIX + variable),
  ...FILE_NAMES.values(),
]);
/** Without the prefix, which would make short names similar. */
const KNOWN = Array.from(IS_KNOWN, (name) => name.slice(PREFIX.length));
/** No heartbeat is sent without these, so a misspelt one must not count as not set. */
const ESSENTIAL = ROWS.filter(({ essential }) => essential).map(({ variable }) => variable);
const ALLOWED = 'a known variable: see pilotlight run --help';
/** A suggestion takes time. */
const SUGGESTED = 50;
const SLIP = 2;

/** https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables */
const SERVICE_LINK =
  /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

/** A name close to an essential variable that is not set is an error; other unknown names warn. */
function unknownNames(environment: Environment) {
  const foreign = Object.keys(environment).filter(
    (name) => name.startsWith(PREFIX) && !IS_KNOWN.has(name) && environment[name] !== '',
  );
  const { ignored = [], others = [] } = Object.groupBy(foreign, (name) =>
    SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(environment[name] ?? ''))
      ? 'ignored'
      : 'others',
  );
  const missing = ESSENTIAL.filter((variable) => !isSet(PREFIX + variable, environment));
  return { problems: others.map((name, index) => problemOf(name, missing, index < SUGGESTED)), ignored };
}

function isSet(name: string, environment: Environment): boolean {
  return [name, FILE_NAMES.get(name)].some((form) => form !== undefined && environment[form]?.trim());
}

function problemOf(name: string, missing: readonly string[], isSuggested: boolean): ConfigProblem {
  const own = name.slice(PREFIX.length);
  const slip = missing.length > 0 && isSuggested ? nearestName(own, KNOWN, SLIP) : undefined;
  for (const essential of missing) {
    const forms = [essential, `${essential}_FILE`];
    // A slip in another name does not mean this one.
    if (slip !== undefined && !forms.includes(slip)) continue;
    const meant = slip ?? nearestName(own, [essential]) ?? nearestName(own, forms);
    if (meant === undefined) continue;
    const why = `${suggestion(meant)} ${PREFIX + essential} is not set, and nothing is kept alive without it`;
    return configError(name, 'a value', ALLOWED, why);
  }
  const nearest = isSuggested ? nearestName(own, KNOWN) : undefined;
  const message = nearest === undefined ? 'no such variable' : suggestion(nearest);
  return { ...configWarning(name, 'a value', ALLOWED, message), failsCheck: true };
}

function suggestion(meant: string): string {
  return `no such variable; did you mean ${PREFIX + meant}?`;
}
