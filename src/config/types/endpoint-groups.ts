/** ENDPOINT_GROUPS: a JSON array whose objects the scaling rules check. */
import { checkEndpointGroups, type CheckedGroup } from '../../scaling/rules/check.ts';
import { gotInWords } from '../../scaling/rules/findings.ts';
import type { ValueProblem, ValueType } from './value-types.ts';

const ALLOWED = 'a JSON array of parameter objects such as [{"endpoint_name":"chat","target_util":0.9}]';

export const endpointGroupList: ValueType<readonly CheckedGroup[]> = {
  name: 'JSON array',
  parse(value) {
    const groups = parseGroupArray(value);
    if (typeof groups === 'string') {
      return { value: undefined, problems: [{ at: '', got: value, allowed: ALLOWED, message: groups }] };
    }
    const checked = checkEndpointGroups(groups);
    const problems = checked.flatMap(({ findings }, index) =>
      findings.map((finding): ValueProblem => {
        const { rule, parameter, allowed, message, severity } = finding;
        const at = parameter === '' ? `[${index}]` : `[${index}].${parameter}`;
        return { rule, at, got: gotInWords(finding), allowed, message, severity };
      }),
    );
    // A rule only advises: what breaks one is said, in problems, metrics and page, and nothing is switched off.
    return { value: checked, problems };
  },
};

/** The array, or what is wrong with the text. */
export function parseGroupArray(value: string): unknown[] | string {
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : 'not an array';
  } catch (error) {
    return `not JSON: ${(error as Error).message}`;
  }
}
