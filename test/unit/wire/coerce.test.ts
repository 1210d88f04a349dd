/** Text from a path, a query or a command line, as the type that a schema wants; and bounded bodies. */
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { coerceFields, coerceText, innerOf } from '../../../src/wire/coerce.ts';
import { BoundedBody, readBody } from '../../../src/wire/body.ts';
import { createMatcher, matchOperation } from '../../../src/wire/match.ts';

test.each<[what: string, schema: z.ZodType, text: string, value: unknown]>([
  ['true', z.boolean(), 'true', true],
  ['false', z.boolean(), 'false', false],
  ['neither', z.boolean(), 'yes', 'yes'],
  ['digits for a string', z.string(), '42', '42'],
  ['digits for one of some words', z.enum(['1', '2']), '2', '2'],
  ['an optional number', z.number().optional(), '4.5', 4.5],
  ['a nullable number', z.number().nullable(), '4', 4],
  ['a number with a default', z.number().default(1), '4', 4],
  ['a number inside of all three', z.number().nullable().optional().default(1), '4', 4],
  ['a number rather than a string', z.union([z.number(), z.string()]), '42', 42],
  ['a string, where it is no number', z.union([z.number(), z.string()]), 'all', 'all'],
  ['a boolean, the second alternative', z.union([z.int(), z.boolean()]), 'true', true],
  ['neither of two', z.union([z.int(), z.boolean()]), '4.5', '4.5'],
  ['a list', z.array(z.int()), '[1, 2]', [1, 2]],
  ['a list that is cut off', z.array(z.int()), '[1', '[1'],
  ['a fraction with an exponent', z.number(), '-1.25e+10', -1.25e10],
  ['an exponent of two digits alone', z.number(), '1e-12', 1e-12],
  ['a number with a unit', z.number(), '1.5s', '1.5s'],
  ['a number behind a name', z.number(), 'x1', 'x1'],
  ['half a number', z.number(), '1.', '1.'],
])('%s', (_, schema, text, value) => {
  expect(coerceText(schema, text)).toEqual(value);
});

test('an integer is written as ids are, a number in any way', () => {
  for (const text of ['1e2', '007', '4.0', '-0']) {
    expect(coerceText(z.int(), text)).toBe(text);
    expect(coerceText(z.number(), text)).toBe(Number(text));
  }
  for (const text of ['', '+7', ' 7', '0x10', '42x']) expect(coerceText(z.int(), text)).toBe(text);
  expect(['0', '-3', '42'].map((text) => coerceText(z.int(), text))).toEqual([0, -3, 42]);
  expect(coerceFields(z.object({ id: z.int() }), { id: '42', more: '7' })).toEqual({ id: 42, more: '7' });
  expect(innerOf(z.number())).toBeInstanceOf(z.ZodNumber);
});

test('a placeholder is decoded, and never empty', () => {
  const to = (id: string) => matchOperation('POST', `/api/v0/deployment/${id}/heartbeat`)?.params;
  expect(to('a%2Fb')).toEqual({ id: 'a/b' });
  expect(to('100%25')).toEqual({ id: '100%' });
  expect(to('')).toBeUndefined();
  expect(to('%E0%A4%A')).toBeUndefined();
});

test('the first route that fits wins; a path tells its methods', () => {
  const match = createMatcher([
    { method: 'GET', path: '/things/all', value: 'all' },
    { method: 'GET', path: '/things/{id}', value: 'one' },
    { method: 'PUT', path: '/things/{id}', value: 'change' },
    { method: 'GET', path: '/things', value: 'list' },
  ]);
  expect(match('GET', '/things/all')?.value).toBe('all');
  expect(match('GET', '/things/7')).toEqual({ value: 'one', params: { id: '7' } });
  expect(match('PUT', 'things/7')?.value).toBe('change');
  expect(match('PUT', '/others/7')).toBeUndefined();
  expect(match('GET', '/a/b/c')).toBeUndefined();
  expect(match.methodsOf('/things/7')).toEqual(['GET', 'PUT']);
  expect(match.methodsOf('/things/')).toEqual(['GET']);
  expect(match.methodsOf('/others')).toEqual([]);
  expect(match.methodsOf('/a/b/c')).toEqual([]);
});

describe('a body', () => {
  const PIECES = ['ab', 'cd', 'e'].map((text) => Buffer.from(text));

  test('is read up to the bound, and no further', async () => {
    const stream = Readable.from(PIECES);
    const [whole, cut] = [await readBody(Readable.from(PIECES), 5), await readBody(stream, 3)];
    expect([whole.bytes.toString(), whole.complete]).toEqual(['abcde', true]);
    expect([cut.bytes.toString(), cut.complete, stream.destroyed]).toEqual(['ab', false, true]);
  });

  test('leaves out pieces that follow one that was too large, however small they are', () => {
    const body = new BoundedBody(3);
    expect(PIECES.map((piece) => body.add(piece))).toEqual([true, false, false]);
    expect(body.bytes().toString()).toBe('ab');
  });
});
