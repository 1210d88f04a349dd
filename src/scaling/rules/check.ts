/** Checks endpoint-group parameters (§2.7): each value against the contract's schema, then the rules over them together. */
import * as z from 'zod';
import {
  ENDPOINT_GROUP_DEFAULTS,
  ENDPOINT_GROUP_PARAMETERS,
  endpointGroupParameters,
  MEANINGS,
  type EndpointGroupParameter,
  type EndpointGroupParameters,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import { isRecord } from '../../contract/is-record.ts';
import { nearestName } from '../../contract/text/nearest-name.ts';
import { UNKNOWN_PARAMETER, type Finding, type ResolvedParameters, type WorkerFacts } from './findings.ts';
import { RULES } from './rules.ts';

/** Id of the note that a default applies. */
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

/** Checks one set of parameters, or a row of the service's list. Never throws, whatever it is given. */
export function checkEndpointGroup(
  given: unknown,
  facts: WorkerFacts = {},
): { parameters: ResolvedParameters | undefined; findings: Finding[] } {
  const group = isRecord(given) && 'id' in given ? parametersOf(given) : given;
  const parsed = endpointGroupParameters.safeParse(group);
  if (!parsed.success) {
    return { parameters: undefined, findings: parsed.error.issues.flatMap((issue) => invalid(issue, group)) };
  }
  const parameters = resolveDefaults(parsed.data);
  const names = new Set(Object.keys(parsed.data));
  const findings = RULES.filter((rule) => rule.applies(parameters, names, facts)).map((rule) => ({
    rule: rule.id,
    severity: rule.severity,
    parameter: rule.parameter,
    got: parameters[rule.parameter],
    allowed: rule.allowed,
    message: rule.message(parameters, facts),
  }));
  return { parameters, findings: [...findings, ...filledDefaults(names)] };
}

/** Those of a row as the service has it: null is unset, text may stand for a number, and other fields are its own. */
export function parametersOf(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    ENDPOINT_GROUP_PARAMETERS.flatMap((name) => {
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
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownParameter(key, (group as Record<string, unknown>)[key]));
  }
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
      message: `${MEANINGS[parameter]}${hint(parameter, got)}`,
    },
  ];
}

/** What the service calls a parameter elsewhere. */
const ALIASES: ReadonlyMap<string, EndpointGroupParameter> = new Map([['min_workers', 'cold_workers']]);

function unknownParameter(name: string, got: unknown): Finding {
  const nearest = ALIASES.get(name) ?? nearestName(name, ENDPOINT_GROUP_PARAMETERS);
  return {
    rule: UNKNOWN_PARAMETER,
    severity: 'error',
    parameter: name,
    got,
    allowed: ENDPOINT_GROUP_PARAMETERS.join(', '),
    message: nearest ? `no such parameter; did you mean ${nearest}?` : 'no such parameter',
  };
}

function ruleSuffix(issue: z.core.$ZodIssue, got: unknown): 'type' | 'range' | 'finite' {
  if (typeof got === 'number' && !Number.isFinite(got)) return 'finite';
  return issue.code === 'too_big' || issue.code === 'too_small' ? 'range' : 'type';
}

/** What a person probably meant: 90 is a percentage, 1.2 is a mistake of another kind. */
function hint(parameter: EndpointGroupParameter, got: unknown): string {
  if (parameter === 'target_util' && typeof got === 'number' && got >= 5 && got <= 100) {
    return `; it is a fraction: for ${got} percent write ${got / 100}`;
  }
  if (typeof got === 'string' && got.trim() !== '' && Number.isFinite(Number(got))) {
    return `; write it without quotes: ${got}`;
  }
  return '';
}

/** The values that the contract's schema allows, in words: `a number above 0 and at most 1`. */
export function allowedValues(parameter: EndpointGroupParameter): string {
  const schema = z.toJSONSchema(endpointGroupParameters.shape[parameter]);
  if (schema.type === 'string') return 'a string that is not empty';
  const bounds = [
    schema.exclusiveMinimum !== undefined ? `above ${schema.exclusiveMinimum}` : undefined,
    schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER
      ? `at least ${schema.minimum}`
      : undefined,
    schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER
      ? `at most ${schema.maximum}`
      : undefined,
  ].filter((bound) => bound !== undefined);
  const noun = schema.type === 'integer' ? 'an integer' : 'a number';
  const [first] = bounds;
  if (first === undefined) return noun;
  return `${noun} ${first.startsWith('at') ? 'of ' : ''}${bounds.join(' and ')}`;
}
