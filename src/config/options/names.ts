/** The names in the environment that carry our prefix: which are ours, which are unknown, which Kubernetes made. */
import { nearestName } from '../../contract/text/nearest-name.ts';
import { DAEMON_VARIABLES } from './daemon-variables.ts';
import { HEART_OPTIONS } from './heart-options.ts';
import { PREFIX } from './option.ts';
import { REMOVED } from './removed.ts';
import { configError, isError, type ConfigProblem } from '../problem.ts';
import type { Environment } from '../values.ts';

const VARIABLES = [...Object.values(HEART_OPTIONS), ...DAEMON_VARIABLES.map((variable) => ({ variable }))];

/** NAME → NAME_FILE. */
const FILES: ReadonlyMap<string, string> = new Map(
  VARIABLES.filter((option) => !('noFile' in option)).map(({ variable }) => [
    PREFIX + variable,
    `${PREFIX + variable}_FILE`,
  ]),
);
const IS_KNOWN: ReadonlySet<string> = new Set([
  ...VARIABLES.map(({ variable }) => PREFIX + variable),
  ...FILES.values(),
]);
/** Without the prefix, which all of them share: with it, names of few letters would be close to each other. */
const KNOWN = Array.from(IS_KNOWN, (name) => name.slice(PREFIX.length));
/** Of a file that is not ours at all, so many names are said what they may mean. */
const SUGGESTED = 50;
const ALLOWED = 'a known variable: see pilotlight run --help';
/** Without these no heartbeat is sent, so a misspelt one must not pass for an unset one. */
const ESSENTIAL = [HEART_OPTIONS.apiKey, HEART_OPTIONS.baseUrl, HEART_OPTIONS.deployments].map(
  ({ variable }) => PREFIX + variable,
);
/** A name so close to another one is a slip in that one's. */
const SLIP = 2;

/**
 * What Kubernetes puts into each pod for a Service named pilotlight, or pilotlight-something
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const SERVICE_LINK =
  /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

/** NAME_FILE of a NAME, NAME of a NAME_FILE; undefined where there is none. */
export function partnerOf(name: string): string | undefined {
  const own = name.slice(0, -'_FILE'.length);
  return FILES.get(name) ?? (FILES.get(own) === name ? own : undefined);
}

export interface ForeignNames {
  /** Close to an essential variable that is not set: errors. */
  readonly fatal: readonly ConfigProblem[];
  /** Warnings that fail `check`: nothing reads these names. */
  readonly unknown: readonly ConfigProblem[];
  /** Made by Kubernetes, and ignored. */
  readonly ignored: readonly string[];
}

export function foreignNames(environment: Environment): ForeignNames {
  const foreign = Object.keys(environment).filter(
    (name) => name.startsWith(PREFIX) && !IS_KNOWN.has(name) && environment[name] !== '',
  );
  const { ignored = [], others = [] } = Object.groupBy(foreign, (name) =>
    isServiceLink(name, environment[name] ?? '') ? 'ignored' : 'others',
  );
  const missing = ESSENTIAL.filter((name) => !isSet(name, environment));
  const problems = others.map((name, index) => foreignName(name, missing, index < SUGGESTED));
  const { fatal = [], unknown = [] } = Object.groupBy(problems, (problem) =>
    isError(problem) ? 'fatal' : 'unknown',
  );
  return { fatal, unknown, ignored };
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));
}

function foreignName(name: string, missing: readonly string[], isSuggested: boolean): ConfigProblem {
  const own = name.slice(PREFIX.length);
  const removed = REMOVED.get(own) ?? REMOVED.get(own.replace(/_FILE$/, ''));
  if (removed !== undefined) return unknownName(name, removed, 'no value');
  const meant = misspelt(own, missing);
  if (meant !== undefined)
    return configError(
      name,
      'a value',
      ALLOWED,
      `no such variable; did you mean ${meant.name}? ${meant.missing} is not set, and nothing is kept alive without it`,
    );
  const nearest = isSuggested ? nearestName(own, KNOWN) : undefined;
  if (nearest === undefined) return unknownName(name, 'no such variable');
  return unknownName(name, `no such variable; did you mean ${PREFIX}${nearest}?`);
}

/** The essential variable without a value, or its file, that a name is close to, unless it is a slip in another one. */
function misspelt(
  own: string,
  missing: readonly string[],
): { readonly name: string; readonly missing: string } | undefined {
  const slip = nearestName(own, KNOWN, SLIP);
  for (const essential of missing) {
    const plain = essential.slice(PREFIX.length);
    const forms = [plain, `${plain}_FILE`];
    if (slip !== undefined && !forms.includes(slip)) continue;
    const meant = slip ?? nearestName(own, [plain]) ?? nearestName(own, forms);
    if (meant !== undefined) return { name: PREFIX + meant, missing: essential };
  }
  return undefined;
}

function unknownName(name: string, message: string, allowed = ALLOWED): ConfigProblem {
  return { ...configError(name, 'a value', allowed, message), severity: 'warning', failsCheck: true };
}

function isSet(name: string, environment: Environment): boolean {
  return [name, FILES.get(name)].some((form) => form !== undefined && environment[form]?.trim());
}

/** What the environment holds beside our own variables: for a child process that is configured otherwise. */
export function environmentOfOthers(environment: Environment = process.env): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith(PREFIX)));
}
