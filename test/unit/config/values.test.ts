import { expect, test } from 'vitest';
import type { Option } from '../../../src/config/options/option.ts';
import { loadValues } from '../../../src/config/values.ts';

test('a value with hundreds of thousands of problems has all of them, and no call with so many arguments', () => {
  const problems = Array.from({ length: 300_000 }, (_, index) => ({
    at: `[${index}]`,
    got: '{}',
    allowed: 'a group',
  }));
  const option: Option = {
    variable: 'GROUPS',
    type: { name: 'groups', parse: () => ({ value: undefined, problems }) },
    fallback: undefined,
    doc: '',
  };
  const loaded = loadValues({ groups: option }, { PILOTLIGHT_GROUPS: 'x' }, () => '');
  expect(loaded.problems).toHaveLength(problems.length);
});
