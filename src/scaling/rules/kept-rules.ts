/** Whether another set of parameters breaks a rule that the set in force keeps. Pure, and quick: a search asks it often. */
import { ENDPOINT_GROUP_PARAMETERS } from '../../contract/operations/serverless/endpoint-groups.ts';
import type { ResolvedParameters, WorkerFacts } from './findings.ts';
import { RULES } from './rules.ts';

/** What is resolved counts as written: it is what the service would be sent. */
const ALL_GIVEN: ReadonlySet<string> = new Set(ENDPOINT_GROUP_PARAMETERS);

/** @returns false for a set with an error, or with a warning that `before` does not have */
export function rulesKept(
  before: ResolvedParameters,
  facts: WorkerFacts,
): (after: ResolvedParameters) => boolean {
  const rules = RULES.filter(
    ({ severity, applies }) =>
      severity === 'error' || (severity === 'warning' && !applies(before, ALL_GIVEN, facts)),
  );
  return (after) => !rules.some(({ applies }) => applies(after, ALL_GIVEN, facts));
}
