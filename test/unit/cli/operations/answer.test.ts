import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { columnsOf, renderAnswer } from '../../../../src/cli/operations/answer.ts';
import { OPERATION_IDS } from '../../../../src/contract/operations.ts';
import { secretText, timestamp } from '../../../../src/contract/schemas.ts';

const ROW = z.looseObject({ id: z.int(), at: timestamp, key: secretText });
const SCHEMA = z.looseObject({ rows: z.array(ROW), one: ROW, at: timestamp, key: secretText });

function rendered(answer: unknown, columns?: number, shown?: readonly string[]): string[] {
  return renderAnswer(answer, SCHEMA, { columns, shown });
}

describe('an answer', () => {
  test.each<[unknown, readonly string[]]>([
    [
      { success: true, id: 7, note: null, none: '', list: [] },
      ['id    7', 'note  -', 'none  -', 'list:', '  none'],
    ],
    [{ success: true }, ['success  true']],
    [{ success: false, id: 1 }, ['success  false', 'id       1']],
    [{ msg: 'two\nlines\n' }, ['two', 'lines']],
    [{ msg: 'done' }, ['done']],
    [{ n: 5 }, ['n  5']],
    [{ a: 'x', log: 'one\n two' }, ['a  x', 'log:', '  one', '   two']],
    [{ at: 1_700_000_000, b: 1 }, ['at  2023-11-14T22:13:20.000Z', 'b   1']],
    [{ at: 0, b: 0 }, ['at  -', 'b   0']],
    [{ at: 1e20, b: 1 }, ['at  100000000000000000000', 'b   1']],
    [{ key: 's3cret', id: 1 }, ['key  (a secret: --show-keys shows it)', 'id   1']],
    [{ key: null, id: 1 }, ['key  -', 'id   1']],
    [{ o: { p: { q: 1 } }, x: 1 }, ['x  1', 'o:', '  q  1']],
    [{ o: { p: 1, q: 2 } }, ['p  1', 'q  2']],
    [{ 'a\u001B[2Jb': 1, c: '\u001B[31mx \t y' }, ['ab  1', 'c   x y']],
    ['text', ['text']],
    [null, ['-']],
    [[], ['none']],
    [
      ['a', 5, null],
      ['a', '5', '-'],
    ],
    [{ 7: { a: 1 }, 12: { a: 2 } }, ['7:', '  a  1', '12:', '  a  2']],
    [{ byId: { 7: { a: 1 }, 12: { b: 2 } } }, ['FOR  A  B', '7    1  -', '12   -  2']],
    [{ byId: { 7: 1 } }, ['7  1']],
    [{ byId: {} }, []],
  ])('%# %j', (answer, lines) => {
    expect(rendered(answer)).toEqual(lines);
  });

  test('of rows is a table of all their fields but secrets, or of those that are to be shown', () => {
    const rows = [
      { id: 1, at: 1_700_000_000, key: 'x', more: { a: [1] } },
      { id: 2, other: '-' },
    ];
    expect(rendered({ rows })).toEqual([
      'ID  AT                        MORE       OTHER',
      '1   2023-11-14T22:13:20.000Z  {"a":[1]}  -',
      '2   -                         -          -',
      '(1 more field: --json shows all)',
    ]);
    expect(rendered({ rows, x: 1 }, undefined, ['other', 'id', 'nothing'])).toEqual([
      'x  1',
      'rows:',
      '  OTHER  ID',
      '  -      1',
      '  -      2',
      '  (3 more fields: --json shows all)',
    ]);
    expect(renderAnswer(rows, z.array(ROW), { columns: undefined, shown: ['key'] })).toEqual([
      'KEY',
      'x',
      '-',
      '(4 more fields: --json shows all)',
    ]);
  });

  test('below another one has so much less room', () => {
    const answer = { rows: [{ name: 'x'.repeat(40) }], n: 1 };
    expect(rendered(answer, 20).at(-1)).toBe(`  ${'x'.repeat(17)}…`);
    expect(rendered({ rows: answer.rows }, 20).at(-1)).toBe(`${'x'.repeat(19)}…`);
  });

  test('that is read before it is shown is shown by what it is read as', () => {
    const piped = z.looseObject({ rows: z.preprocess((value) => value, z.array(ROW)) }).optional();
    expect(renderAnswer({ rows: [{ at: 0, key: 'x' }] }, piped, { columns: undefined })).toEqual([
      'AT',
      '-',
      '(1 more field: --json shows all)',
    ]);
  });
});

test('the columns of a list are names of fields, its id the first', () => {
  const lists = OPERATION_IDS.map(columnsOf).filter((columns) => columns !== undefined);
  expect(lists).toHaveLength(9);
  for (const columns of lists) {
    expect(columns[0]).toBe('id');
    for (const name of columns) expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(new Set(columns).size).toBe(columns.length);
  }
});
