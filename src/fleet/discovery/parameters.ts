/**
 * Parameters that an endpoint has: with defaults, with what the rules say, and with the drift from
 * PILOTLIGHT_ENDPOINT_GROUPS.
 */
import {
  ENDPOINT_GROUP_DEFAULTS,
  ENDPOINT_GROUP_PARAMETERS,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import {
  checkEndpointGroup,
  DEFAULT_FILLED_IN,
  parametersOf,
  type CheckedGroup,
} from '../../scaling/rules/check.ts';
import type { Finding, WorkerFacts } from '../../scaling/rules/findings.ts';
import type { Drift } from '../view.ts';
import type { ListedEndpoint } from './endpoints.ts';

/** Numeric ones, with defaults. */
export function numericParameters(row: ListedEndpoint): Readonly<Record<string, number>> {
  const own = Object.entries(parametersOf(row)).filter(
    (entry): entry is [string, number] => entry[0] !== 'endpoint_name' && Number.isFinite(entry[1]),
  );
  return { ...ENDPOINT_GROUP_DEFAULTS, ...Object.fromEntries(own) };
}

/**
 * A default that was filled in is not compared, because services have other defaults. null on the endpoint
 * means its default. A parameter missing from the list is not compared.
 */
export function driftOf(
  row: ListedEndpoint,
  { parameters: wanted, findings }: CheckedGroup,
): readonly Drift[] {
  const filledIn = new Set(
    findings.filter(({ rule }) => rule === DEFAULT_FILLED_IN).map(({ parameter }) => parameter),
  );
  const own: Readonly<Record<string, unknown>> = { ...numericParameters(row), ...parametersOf(row) };
  return ENDPOINT_GROUP_PARAMETERS.flatMap((parameter): Drift[] => {
    const should = wanted?.[parameter];
    const isCompared = typeof should === 'number' && row[parameter] !== undefined && !filledIn.has(parameter);
    const has = own[parameter];
    const actual = typeof has === 'number' || typeof has === 'string' ? has : null;
    return isCompared && actual !== should ? [{ parameter, actual, wanted: should }] : [];
  });
}

/** Without the notes on defaults: the user may have chosen these values. */
export function findingsOf(row: ListedEndpoint, facts: WorkerFacts): readonly Finding[] {
  const group = Object.entries(parametersOf(row)).filter(([, value]) => value !== '');
  const { findings } = checkEndpointGroup(Object.fromEntries(group), facts);
  return findings.filter(({ rule }) => rule !== DEFAULT_FILLED_IN);
}
