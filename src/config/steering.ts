/** Asked to change parameters, and not told which, or of what, or with nowhere to keep it: nobody should believe that it does. */
import { nearestName } from '../contract/text/nearest-name.ts';
import { BOUNDS_ALLOWED, type Bounds } from '../scaling/autotune/bounds.ts';
import { DAEMON_OPTIONS, type DaemonOptionKey, type DaemonSettings } from './options/daemon-options.ts';
import { PREFIX } from './options/options.ts';
import type { ConfigProblem } from './problem.ts';

/** Steering's evidence is a look in each minute, ms. */
const LONGEST_INTERVAL_MS = 60_000;
const APPLY = `${PREFIX}AUTOTUNE is apply`;

export function steeringProblems(
  settings: Partial<DaemonSettings>,
  broken: ReadonlySet<DaemonOptionKey>,
): ConfigProblem[] {
  if (settings.autotune !== 'apply') return [];
  return [...nothingNamed(settings, broken), ...unkept(settings, broken), ...tooSeldom(settings)];
}

function nothingNamed(
  { autotuneBounds = {}, endpoints = [] }: Partial<DaemonSettings>,
  broken: ReadonlySet<DaemonOptionKey>,
): ConfigProblem[] {
  if (endpoints.length === 0 && !broken.has('endpoints'))
    return [unset('endpoints', `${APPLY}, but no endpoint is watched: nothing is changed`)];
  if (broken.has('autotuneBounds')) return [];
  const bounds = Object.entries(autotuneBounds);
  if (bounds.length === 0)
    return [unset('autotuneBounds', `${APPLY}, but no bounds say what may be changed: nothing is changed`)];
  return bounds.flatMap(([label, of]) => unwatched(label, of, endpoints).concat(empty(label, of)));
}

/** Of a minute without a look nothing is known, and what is not known is no ground to move anything. */
function tooSeldom({ fleetInterval = 0 }: Partial<DaemonSettings>): ConfigProblem[] {
  if (fleetInterval <= LONGEST_INTERVAL_MS) return [];
  return [
    {
      severity: 'warning',
      variable: PREFIX + DAEMON_OPTIONS.fleetInterval.variable,
      got: `${fleetInterval / 1000}s`,
      allowed: '1m at most',
      message: `${APPLY}, but endpoints are not looked at each minute: nothing is changed`,
    },
  ];
}

/** The duty to put old values back has to outlive the process that took it on. */
function unkept(
  { stateDir, redisUrl }: Partial<DaemonSettings>,
  broken: ReadonlySet<DaemonOptionKey>,
): ConfigProblem[] {
  if (stateDir !== undefined || redisUrl !== undefined || broken.has('stateDir') || broken.has('redisUrl'))
    return [];
  return [
    unset(
      'stateDir',
      `${APPLY}, but nothing that outlives the process keeps what was changed: nothing is changed ` +
        `(${PREFIX}${DAEMON_OPTIONS.redisUrl.variable} does as well)`,
    ),
  ];
}

/** Of a list that has `all` or an id in it, only the service could say which endpoints these are: the daemon does. */
function unwatched(label: string, bounds: Bounds, endpoints: DaemonSettings['endpoints']): ConfigProblem[] {
  const names = endpoints.flatMap((one) => (one.by === 'name' ? [one.name] : []));
  // Of several with one name the second is called `chat#2`.
  const isWatched = names.some((name) => label === name || label.replace(/#\d+$/, '') === name);
  if (isWatched || names.length < endpoints.length || names.length === 0) return [];
  const nearest = nearestName(label, names);
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  const allowed = `an endpoint that ${PREFIX}${DAEMON_OPTIONS.endpoints.variable} names: ${names.join(', ')}`;
  return [ofBounds(label, bounds, allowed, `it is not watched: nothing of it is changed${meant}`)];
}

function empty(label: string, bounds: Bounds): ConfigProblem[] {
  if (Object.keys(bounds).length > 0) return [];
  return [ofBounds(label, bounds, BOUNDS_ALLOWED, 'no parameter is named in it: nothing of it is changed')];
}

function ofBounds(label: string, bounds: Bounds, allowed: string, message: string): ConfigProblem {
  const variable = `${PREFIX}${DAEMON_OPTIONS.autotuneBounds.variable}.${label}`;
  return { severity: 'warning', variable, got: JSON.stringify(bounds), allowed, message };
}

function unset(key: 'autotuneBounds' | 'endpoints' | 'stateDir', message: string): ConfigProblem {
  const { variable, type } = DAEMON_OPTIONS[key];
  return { severity: 'warning', variable: PREFIX + variable, got: undefined, allowed: type.name, message };
}
