/** Names with our prefix that are misspelt, of an earlier version, or made by Kubernetes. */
import { nearestName } from '../contract/text/nearest-name.ts';
import { OPTIONS, PREFIX, type Option } from './options.ts';
import { configError, configWarning, type ConfigProblem } from './problem.ts';
import type { Environment } from './values.ts';

const NO_STEERING =
  'removed: Pilotlight no longer changes parameters; plan with `pilotlight plan --search` and set them yourself';
const NO_ADVICE =
  'removed: Pilotlight gives no advice from recorded load; plan with `pilotlight plan --search` and your own load';
const REMOVED: ReadonlyMap<string, string> = new Map([
  ['AUTOTUNE', NO_STEERING],
  ['AUTOTUNE_BOUNDS', NO_STEERING],
  ['ADVICE_SCHEDULE', NO_ADVICE],
  ['ADVICE_P99', NO_ADVICE],
]);

const ROWS: readonly Option[] = Object.values(OPTIONS);
const FILES: ReadonlyMap<string, string> = new Map(
  ROWS.filter(({ noFile }) => !noFile).map(({ variable }) => [
    PREFIX + variable,
    `${PREFIX + variable}_FILE`,
  ]),
);
const IS_KNOWN: ReadonlySet<string> = new Set([
  ...ROWS.map(({ variable }) => PREFIX + variable),
  ...FILES.values(),
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

/** NAME_FILE of a NAME, NAME of a NAME_FILE; undefined if there is none. */
export function partnerOf(name: string): string | undefined {
  const own = name.slice(0, -'_FILE'.length);
  return FILES.get(name) ?? (FILES.get(own) === name ? own : undefined);
}

/** A name close to an essential variable that is not set is an error; other unknown names warn. */
export function unknownNames(environment: Environment) {
  const foreign = Object.keys(environment).filter(
    (name) => name.startsWith(PREFIX) && !IS_KNOWN.has(name) && environment[name] !== '',
  );
  const { ignored = [], others = [] } = Object.groupBy(foreign, (name) =>
    isServiceLink(name, environment[name] ?? '') ? 'ignored' : 'others',
  );
  const missing = ESSENTIAL.filter((variable) => !isSet(PREFIX + variable, environment));
  return { problems: others.map((name, index) => problemOf(name, missing, index < SUGGESTED)), ignored };
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));
}

function isSet(name: string, environment: Environment): boolean {
  return [name, FILES.get(name)].some((form) => form !== undefined && environment[form]?.trim());
}

function problemOf(name: string, missing: readonly string[], isSuggested: boolean): ConfigProblem {
  const own = name.slice(PREFIX.length);
  const removed = REMOVED.get(own) ?? REMOVED.get(own.replace(/_FILE$/, ''));
  if (removed !== undefined) return unread(name, removed, 'no value');
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
  return unread(name, nearest === undefined ? 'no such variable' : suggestion(nearest));
}

function suggestion(meant: string): string {
  return `no such variable; did you mean ${PREFIX + meant}?`;
}

function unread(name: string, message: string, allowed = ALLOWED): ConfigProblem {
  return { ...configWarning(name, 'a value', allowed, message), failsCheck: true };
}
