/** The names in the environment that carry our prefix: which are ours, which are misspelt, which Kubernetes made. */
import { nearestName } from '../../contract/text/nearest-name.ts';
import { DAEMON_VARIABLES } from './daemon-variables.ts';
import { HEART_OPTIONS } from './heart-options.ts';
import { PREFIX } from './option.ts';
import { configError, type ConfigProblem } from '../problem.ts';
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
  readonly problems: readonly ConfigProblem[];
  /** Made by Kubernetes, and ignored. */
  readonly ignored: readonly string[];
}

export function foreignNames(environment: Environment): ForeignNames {
  const foreign = Object.keys(environment).filter(
    (name) => name.startsWith(PREFIX) && !IS_KNOWN.has(name) && environment[name] !== '',
  );
  const { ignored = [], unknown = [] } = Object.groupBy(foreign, (name) =>
    isServiceLink(name, environment[name] ?? '') ? 'ignored' : 'unknown',
  );
  return { problems: unknown.map((name, index) => unknownName(name, index < SUGGESTED)), ignored };
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));
}

function unknownName(name: string, isSuggested: boolean): ConfigProblem {
  const nearest = isSuggested ? nearestName(name.slice(PREFIX.length), KNOWN) : undefined;
  const message = nearest ? `no such variable; did you mean ${PREFIX}${nearest}?` : 'no such variable';
  return configError(name, 'a value', 'a known variable: see pilotlight run --help', message);
}

/** What the environment holds beside our own variables: for a child process that is configured otherwise. */
export function environmentOfOthers(environment: Environment = process.env): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith(PREFIX)));
}
