/**
 * What steering may move, and how far: PILOTLIGHT_AUTOTUNE_BOUNDS. Nothing that a person has not written here ever moves,
 * so whatever is wrong with it is said, all at once, and then nothing moves at all. Pure.
 */
import { nearestName } from '../../contract/text/nearest-name.ts';
import { repeatedKeys } from '../../contract/text/repeated-keys.ts';
import { ADVISED_PARAMETERS, type AdvisedParameter } from '../advice/advice.ts';
import { allowedValues, checkEndpointGroup } from '../rules/check.ts';

export type Bound = readonly [least: number, most: number];
/** Of one endpoint; a parameter that is not named stays as it is. */
export type Bounds = Readonly<Partial<Record<AdvisedParameter, Bound>>>;
/** By the endpoint's label. */
export type BoundsByEndpoint = Readonly<Record<string, Bounds>>;

/** Own ones alone: an endpoint may be called `constructor`. Undefined: no bounds name it. */
export function boundsOf(bounds: BoundsByEndpoint, label: string): Bounds | undefined {
  return Object.hasOwn(bounds, label) ? bounds[label] : undefined;
}

export interface BoundsProblem {
  /** Place inside the value: `.chat.target_util[1]`; empty for all of it. */
  readonly at: string;
  readonly got: string;
  readonly allowed: string;
  readonly message: string;
}

export interface ParsedBounds {
  /** Undefined where there is any problem. */
  readonly bounds: BoundsByEndpoint | undefined;
  readonly problems: readonly BoundsProblem[];
}

export const BOUNDS_ALLOWED = 'a JSON object such as {"chat":{"target_util":[0.6,0.9],"cold_workers":[1,8]}}';
const NAMES = ADVISED_PARAMETERS.join(', ');

export function parseBounds(text: string): ParsedBounds {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `not JSON: ${(error as Error).message}`;
    return { bounds: undefined, problems: [{ at: '', got: text, allowed: BOUNDS_ALLOWED, message }] };
  }
  const repeated = repeatedKeys(text).map((at) => ({
    at,
    got: 'it twice',
    allowed: 'each endpoint, and each parameter of it, once',
    message: 'only the last of them would hold',
  }));
  const problems = [...repeated, ...problemsOf(value)];
  return { bounds: problems.length > 0 ? undefined : (value as BoundsByEndpoint), problems };
}

function problemsOf(value: unknown): BoundsProblem[] {
  if (!isObject(value)) return [problem('', value, BOUNDS_ALLOWED, 'not an object')];
  return Object.entries(value).flatMap(([endpoint, bounds]) => {
    const at = `.${endpoint}`;
    if (endpoint.trim() === '') {
      return [
        problem(at, endpoint, 'the label of an endpoint, as metrics have it', 'no endpoint is called so'),
      ];
    }
    if (!isObject(bounds)) {
      return [problem(at, bounds, `an object of parameters: ${NAMES}`, 'each parameter has [least, most]')];
    }
    return Object.entries(bounds).flatMap(([name, bound]) => problemsOfBound(`${at}.${name}`, name, bound));
  });
}

function problemsOfBound(at: string, name: string, bound: unknown): BoundsProblem[] {
  if (!isAdvised(name)) return [problem(at, bound, NAMES, unknownName(name))];
  if (!Array.isArray(bound) || bound.length !== 2) {
    return [problem(at, bound, '[least, most]', `such as [${EXAMPLES[name].join(', ')}]`)];
  }
  const values = bound as unknown[];
  const wrong = values.flatMap((each, place) =>
    isAllowed(name, each)
      ? []
      : [problem(`${at}[${place}]`, each, allowedValues(name), `${name} takes no other`)],
  );
  if (wrong.length > 0) return wrong;
  const [least, most] = values as [number, number];
  if (least <= most) return [];
  return [problem(at, bound, 'the least first, then the most', `write [${most}, ${least}]`)];
}

const EXAMPLES: Readonly<Record<AdvisedParameter, Bound>> = {
  target_util: [0.6, 0.9],
  cold_mult: [1, 3],
  cold_workers: [1, 8],
  min_load: [0, 500],
  min_cold_load: [0, 1000],
};

function unknownName(name: string): string {
  if (name === 'max_workers') {
    return 'max_workers bounds what the endpoint can cost: steering never raises it, and lowering it saves nothing that cold_workers and cold_mult do not';
  }
  const nearest = nearestName(name, ADVISED_PARAMETERS);
  return nearest
    ? `no parameter that can be steered; did you mean ${nearest}?`
    : 'no parameter that can be steered';
}

/** By the contract's own schema of the parameter, which the service would refuse it by. */
function isAllowed(name: AdvisedParameter, value: unknown): boolean {
  return typeof value === 'number' && checkEndpointGroup({ [name]: value }).parameters !== undefined;
}

function isAdvised(name: string): name is AdvisedParameter {
  return (ADVISED_PARAMETERS as readonly string[]).includes(name);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problem(at: string, got: unknown, allowed: string, message: string): BoundsProblem {
  return { at, got: written(got), allowed, message };
}

/** As somebody wrote it, but for a number that is too large for any: JSON has no name for that. */
function written(got: unknown): string {
  return typeof got === 'number' ? String(got) : (JSON.stringify(got) ?? 'nothing');
}
