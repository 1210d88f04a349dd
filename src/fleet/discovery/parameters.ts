/**
 * Parameters that an endpoint has: with defaults, with what the rules say, and with the drift from
 * PILOTLIGHT_ENDPOINT_GROUPS.
 */
import {
  ENDPOINT_GROUP_DEFAULTS,
  ENDPOINT_GROUP_PARAMETERS,
  type EndpointGroupParameter,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import { checkEndpointGroup, DEFAULT_FILLED_IN, type CheckedGroup } from '../../scaling/rules/check.ts';
import type { Finding, WorkerFacts } from '../../scaling/rules/findings.ts';
import type { Drift } from '../view.ts';
import type { ListedEndpoint } from './endpoints.ts';

type NumericParameter = Exclude<EndpointGroupParameter, 'endpoint_name'>;

const NUMERIC_PARAMETERS = ENDPOINT_GROUP_PARAMETERS.filter((name) => name !== 'endpoint_name');
const DEFAULTS: Partial<Readonly<Record<NumericParameter, number>>> = ENDPOINT_GROUP_DEFAULTS;

/** Numeric ones, with defaults. */
export function numericParameters(row: ListedEndpoint): Readonly<Record<string, number>> {
  return Object.fromEntries(
    NUMERIC_PARAMETERS.flatMap((name) => {
      const value = numberOf(row[name]) ?? DEFAULTS[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * A default that was filled in is not compared, because services have other defaults. null on the endpoint
 * means its default. A parameter missing from the list is not compared.
 */
export function driftOf(
  row: ListedEndpoint,
  { parameters: wanted, findings }: CheckedGroup,
): readonly Drift[] {
  if (wanted === undefined) return [];
  const filledIn = new Set(
    findings.filter(({ rule }) => rule === DEFAULT_FILLED_IN).map(({ parameter }) => parameter),
  );
  return NUMERIC_PARAMETERS.flatMap((parameter): Drift[] => {
    const should = wanted[parameter];
    const has = row[parameter];
    if (should === undefined || has === undefined || filledIn.has(parameter)) return [];
    const actual = numberOf(has) ?? (typeof has === 'string' ? has : (DEFAULTS[parameter] ?? null));
    return actual === should ? [] : [{ parameter, actual, wanted: should }];
  });
}

/** Without the notes on defaults: the user may have chosen these values. */
export function findingsOf(row: ListedEndpoint, facts: WorkerFacts): readonly Finding[] {
  const group = Object.fromEntries(
    ENDPOINT_GROUP_PARAMETERS.flatMap((name) => {
      const value = row[name];
      if (value === undefined || value === null || value === '') return [];
      return [[name, name === 'endpoint_name' ? value : (numberOf(value) ?? value)]];
    }),
  );
  const { findings } = checkEndpointGroup(group, facts);
  return findings.filter(({ rule }) => rule !== DEFAULT_FILLED_IN);
}

/** Answers may have text for numbers. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}
