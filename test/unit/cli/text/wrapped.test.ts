import { expect, test } from 'vitest';
import { wrapped } from '../../../../src/cli/text/wrapped.ts';

test.each<[text: string, columns: number, hanging: string, lines: string[]]>([
  ['as it is', 20, '    ', ['as it is']],
  ['of so many cells 20,', 20, '    ', ['of so many cells 20,']],
  ['one word too many for it', 20, '    ', ['one word too many', '    for it']],
  ['  name: value (assumed)', 20, '    ', ['  name: value', '    (assumed)']],
  [`it says ${'x'.repeat(20)} y`, 20, '    ', ['it says', `    ${'x'.repeat(16)}`, '    xxxx y']],
  ['never narrower than that', 1, '', ['never', 'narrower', 'than that']],
  [`not at all ${'x'.repeat(500)}`, Infinity, '    ', [`not at all ${'x'.repeat(500)}`]],
])('%j in %d columns', (text, columns, hanging, lines) => {
  expect(wrapped(text, columns, hanging)).toEqual(lines);
});
