import type { EndpointGroupParameters } from '../../contract/operations/serverless/endpoint-groups.ts';
import type { ResolvedParameters } from '../rules/findings.ts';

/** The parameters as a user would write them: what has no value is left out. */
export function givenOf(parameters: ResolvedParameters): EndpointGroupParameters {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}
