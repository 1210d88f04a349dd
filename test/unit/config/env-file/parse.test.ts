import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { parseEnvFile } from '../../../../src/config/env-file/parse.ts';

/** Name → value. */
function valuesOf(text: string): Record<string, string> {
  const { assignments, problems } = parseEnvFile(text);
  expect(problems).toEqual([]);
  return Object.fromEntries(Array.from(assignments, ([name, { value }]) => [name, value]));
}

test.each([
  ['A=1', '1'],
  ['  export A=1  ', '1'],
  ['\texport\tA=1\t', '1'],
  ['A=', ''],
  ['A= # nothing', ''],
  ['A=one two  three # but not this', 'one two  three'],
  ['A=one#two', 'one#two'],
  ['A=https://host/?a=b&c=$d', 'https://host/?a=b&c=$d'],
  ['A=[{"endpoint_name":"it\'s","target_util":0.9}]', '[{"endpoint_name":"it\'s","target_util":0.9}]'],
  ['A=C:\\new', 'C:\\new'],
  ["A=' kept # as it is \\n $x \" '", ' kept # as it is \\n $x " '],
  ['A="a \\"b\\" \\\\ \\$c \\`d\\` \\n" # e', 'a "b" \\ $c `d` \\n'],
  ["A=''", ''],
  ['A="" ', ''],
  ['A=1\r', '1'],
  ['A=ü – ☀', 'ü – ☀'],
])('%j', (line, value) => {
  expect(valuesOf(line)).toEqual({ A: value });
});

test('blank lines, comments, a byte order mark and the line ends of Windows say nothing', () => {
  expect(valuesOf('\uFEFF# head\r\n\r\n  # more\r\nA=1\r\n\t\r\nB=2\r\n')).toEqual({ A: '1', B: '2' });
  expect(valuesOf('')).toEqual({});
});

test('every problem at once, with its line, and without what stands there', () => {
  const text = [
    'SECRET one',
    'SECRET = two',
    'SECRET= three',
    '1SECRET=four',
    '=five',
    "SECRET='six",
    'SECRET="seven\\"',
    "SECRET='eight'nine",
    'SECRET=#ten',
    'SECRET=ele\u0007ven',
    'A=1',
    'B=2',
    'export A=twelve',
  ].join('\n');
  const { assignments, problems } = parseEnvFile(text);
  expect(problems).toEqual([
    { line: 1, message: 'it has no =' },
    { line: 2, message: 'there is a space before the =' },
    { line: 3, message: 'there is a space after the =; quote the value to keep it' },
    { line: 4, message: 'what stands before the = is no name' },
    { line: 5, message: 'what stands before the = is no name' },
    { line: 6, message: "its ' is not closed on the same line" },
    { line: 7, message: 'its " is not closed on the same line' },
    { line: 8, message: "something follows its closing '" },
    { line: 9, message: 'a value that begins with # must be quoted' },
    { line: 10, message: 'it has a control character' },
    { line: 13, message: 'A is on line 11 already; keep one' },
  ]);
  expect([...assignments.keys()]).toEqual(['A', 'B']);
  expect(JSON.stringify(problems)).not.toMatch(/SECRET|four|five|seven|eight|nine|eleven|twelve/);
});

test('whatever is quoted comes back', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('"', "'", '\\', '$', '`', '#', ' ', '='), fc.string()),
  });
  const line = text.filter((value) => !/[^\P{Cc}\t]/u.test(value));
  fc.assert(
    fc.property(line, (value) => {
      expect(valuesOf(`A="${value.replaceAll(/["\\$`]/g, '\\$&')}" # so`)).toEqual({ A: value });
      if (!value.includes("'")) expect(valuesOf(`export A='${value}'`)).toEqual({ A: value });
    }),
  );
});

test('no text makes it throw, and each line is an assignment, a problem or nothing', () => {
  const piece = fc.constantFrom(
    'export ',
    'A',
    'B1',
    '=',
    "'",
    '"',
    '\\',
    '#',
    ' ',
    '\t',
    '\n',
    '\r',
    'ü',
    '\0',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      const { assignments, problems } = parseEnvFile(text);
      expect(assignments.size + problems.length).toBeLessThanOrEqual(text.split('\n').length);
    }),
    { numRuns: 2_000 },
  );
});
