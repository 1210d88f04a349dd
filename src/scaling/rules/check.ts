/** Checks endpoint-group parameters (§2.7): each value against the contract, then the rules over them. */
import * as z from 'zod';
import {
  ENDPOINT_GROUP_DEFAULTS,
  endpointGroupParameters,
  endpointGroupSettings,
  MEANINGS,
  type EndpointGroupParameter,
  type EndpointGroupParameters,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import { isRecord } from '../../contract/is-record.ts';
import { nearestName } from '../../contract/text/nearest-name.ts';
import {
  type Finding,
  type ResolvedParameters,
  RULES,
  UNKNOWN_PARAMETER,
  type WorkerFacts,
} from './rules.ts';

export const DEFAULT_FILLED_IN = 'default-filled-in';

/** One endpoint group of a list, with what was found about it. */
export interface CheckedGroup {
  /** Its endpoint_name; `name#2` for the second group that shares it; `#N`, its place in the list, without a name. */
  readonly label: string;
  /** Undefined when a value is invalid. */
  readonly parameters: ResolvedParameters | undefined;
  readonly findings: readonly Finding[];
}

/** Checks all groups of a configuration, in order; every problem of every group is reported. */
export function checkEndpointGroups(groups: readonly unknown[], facts: WorkerFacts = {}): CheckedGroup[] {
  const seen = new Map<string, number>();
  return groups.map((group, index) => {
    const name = endpointNameOf(group);
    const place = name === undefined ? 0 : (seen.get(name) ?? 0) + 1;
    if (name !== undefined) seen.set(name, place);
    const label = name === undefined ? `#${index + 1}` : place === 1 ? name : `${name}#${place}`;
    const { parameters, findings } = checkEndpointGroup(group, facts);
    const shared = place > 1 ? [{ ...SHARED_NAME, got: name }] : [];
    return { label, parameters, findings: [...findings, ...shared] };
  });
}

/** The public service takes it too; the model does not use it. */
const { overrecruit_ratio } = endpointGroupSettings.shape;
const CHECKED = endpointGroupParameters.extend({ overrecruit_ratio });
const CHECKED_PARAMETERS = Object.keys(CHECKED.shape) as (keyof typeof CHECKED.shape)[];

/** Undefined: no such parameter. */
export function schemaOf(name: string): z.ZodType | undefined {
  return CHECKED_PARAMETERS.some((known) => known === name)
    ? CHECKED.shape[name as EndpointGroupParameter]
    : undefined;
}

/** Checks one set of parameters, or a row of the service's list. Never throws, whatever it is given. */
export function checkEndpointGroup(
  given: unknown,
  facts: WorkerFacts = {},
): { parameters: ResolvedParameters | undefined; findings: Finding[] } {
  const group = isRecord(given) && 'id' in given ? parametersOf(given) : given;
  const parsed = CHECKED.safeParse(group);
  if (!parsed.success) {
    return { parameters: undefined, findings: parsed.error.issues.flatMap((issue) => invalid(issue, group)) };
  }
  const { overrecruit_ratio: _, ...known } = parsed.data;
  const parameters = resolveDefaults(known);
  const names = new Set(Object.keys(known));
  const findings = Object.entries(RULES).flatMap(([rule, about]): Finding[] => {
    const { severity = 'warning', parameter, allowed, applies, message } = about;
    if (!applies(parameters, names, facts)) return [];
    const got = parameters[parameter];
    return [{ rule, severity, parameter, got, allowed, message: message(parameters, facts) }];
  });
  const all = [...findings, ...filledDefaults(names)];
  if (!(isRecord(given) && 'id' in given && 'endpoint_id' in given)) return { parameters, findings: all };
  const ofGroup = all.filter(({ parameter }) => !OF_ENDPOINT.some((name) => name === parameter));
  return { parameters, findings: [...ofGroup, ...withoutEffect(given, names)] };
}

/**
 * Parameters of a row of the service's list: null is unset, text may be a number, other fields are ignored.
 */
export function parametersOf(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    CHECKED_PARAMETERS.flatMap((name) => {
      const value = row[name];
      if (value === undefined || value === null) return [];
      const isNumber = name !== 'endpoint_name' && typeof value === 'string' && value.trim() !== '';
      return [[name, isNumber && Number.isFinite(Number(value)) ? Number(value) : value]];
    }),
  );
}

/** The parameters with the defaults of §2.7 for those that are left out. */
export function resolveDefaults(parameters: EndpointGroupParameters): ResolvedParameters {
  const given = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
  return { endpoint_name: undefined, inactivity_timeout: undefined, ...ENDPOINT_GROUP_DEFAULTS, ...given };
}

function endpointNameOf(group: unknown): string | undefined {
  const name = (group as { endpoint_name?: unknown } | null | undefined)?.endpoint_name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

const SHARED_NAME = {
  rule: 'shared-endpoint-name',
  severity: 'note',
  parameter: 'endpoint_name',
  allowed: 'several groups may share one endpoint',
  message: 'another group above serves the same endpoint: requests are spread over both',
} as const;

/** The engine reads them from the endpoint, not from the worker group. */
const OF_ENDPOINT = ['cold_workers', 'min_load'] as const satisfies readonly EndpointGroupParameter[];

function withoutEffect(given: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Finding[] {
  return OF_ENDPOINT.filter((parameter) => names.has(parameter)).map((parameter) => ({
    rule: 'worker-group-parameter',
    severity: 'warning',
    parameter,
    got: given[parameter],
    allowed: 'advised: set on the endpoint only',
    message: 'has no effect on a worker group: the engine takes it from the endpoint; set it there',
  }));
}

function filledDefaults(given: ReadonlySet<string>): Finding[] {
  return Object.entries(ENDPOINT_GROUP_DEFAULTS)
    .filter(([parameter]) => !given.has(parameter))
    .map(([parameter, value]) => ({
      rule: DEFAULT_FILLED_IN,
      severity: 'note',
      parameter,
      got: undefined,
      allowed: allowedValues(parameter as EndpointGroupParameter),
      message: `not given, so ${value} applies (defaults of the service have changed before: say what you mean): ${MEANINGS[parameter as EndpointGroupParameter]}`,
    }));
}

function invalid(issue: z.core.$ZodIssue, group: unknown): Finding[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownParameter(key));
  const parameter = issue.path[0] as EndpointGroupParameter | undefined;
  if (parameter === undefined) {
    return [
      {
        rule: 'not-an-object',
        severity: 'error',
        parameter: '',
        got: group,
        allowed: 'an object of parameters such as {"target_util": 0.9}',
        message: 'each endpoint group is one JSON object',
      },
    ];
  }
  const got = (group as Record<string, unknown>)[parameter];
  return [
    {
      rule: `${parameter.replaceAll('_', '-')}-${ruleSuffix(issue, got)}`,
      severity: 'error',
      parameter,
      got,
      allowed: allowedValues(parameter),
      message: `${CHECKED.shape[parameter].description}${hint(parameter, got)}`,
    },
  ];
}

/** Other names of the service. */
const ALIASES: ReadonlyMap<string, EndpointGroupParameter> = new Map([['min_workers', 'cold_workers']]);

function unknownParameter(name: string): Finding {
  const nearest = ALIASES.get(name) ?? nearestName(name, CHECKED_PARAMETERS);
  return {
    rule: UNKNOWN_PARAMETER,
    severity: 'error',
    parameter: name,
    // An unknown field may hold a secret.
    got: undefined,
    allowed: CHECKED_PARAMETERS.join(', '),
    message: nearest ? `no such parameter; did you mean ${nearest}?` : 'no such parameter',
  };
}

function ruleSuffix(issue: z.core.$ZodIssue, got: unknown): 'type' | 'range' | 'finite' {
  if (typeof got === 'number' && !Number.isFinite(got)) return 'finite';
  return issue.code === 'too_big' || issue.code === 'too_small' ? 'range' : 'type';
}

/** 90 is a percentage; 1.2 is another mistake. */
function hint(parameter: EndpointGroupParameter, got: unknown): string {
  if (parameter === 'target_util' && typeof got === 'number' && got >= 5 && got <= 100) {
    return `; it is a fraction: for ${got} percent write ${got / 100}`;
  }
  if (typeof got === 'number' && got > Number.MAX_SAFE_INTEGER) return `; at most ${Number.MAX_SAFE_INTEGER}`;
  if (typeof got === 'string' && got.trim() !== '' && Number.isFinite(Number(got))) {
    return `; write it without quotes: ${got}`;
  }
  return '';
}

/** The values that the contract allows, in words: `a number above 0 and at most 1`. */
export function allowedValues(parameter: EndpointGroupParameter): string {
  const schema = z.toJSONSchema(CHECKED.shape[parameter]);
  if (schema.type === 'string') return 'a string that is not empty';
  const { exclusiveMinimum: over, minimum: least, maximum: most, type } = schema;
  const bounds: string[] = [];
  if (over !== undefined) bounds.push(`above ${over}`);
  if (least !== undefined && least > Number.MIN_SAFE_INTEGER) bounds.push(`of at least ${least}`);
  if (most !== undefined && most < Number.MAX_SAFE_INTEGER)
    bounds.push(bounds.length > 0 ? `at most ${most}` : `of at most ${most}`);
  return [type === 'integer' ? 'an integer' : 'a number', bounds.join(' and ')].join(' ').trim();
}
