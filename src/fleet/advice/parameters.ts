/** The parameters that the service has, as the planner takes them. Pure. */
import { resolveDefaults } from '../../scaling/rules/check.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';

/** @returns undefined where the service has not said any yet */
export function resolvedParameters(
  numeric: Readonly<Record<string, number>>,
): ResolvedParameters | undefined {
  return Object.keys(numeric).length === 0 ? undefined : resolveDefaults(numeric);
}
