/** Schemas made up for this, and what becomes of them on the command line. */
import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { flagsOf } from '../../../../src/cli/operations/flags.ts';
import { readFlag, describeInputProblem, readInput } from '../../../../src/cli/operations/input.ts';
import type { Operation } from '../../../../src/contract/define.ts';
import { operationOf } from '../../../../src/contract/operations.ts';
import { emptyWhenUnused, secretText } from '../../../../src/contract/schemas.ts';

const OF: Operation = operationOf('instances.list');

function operation(body: z.ZodRawShape, params?: z.ZodRawShape): Operation {
  const { params: _params, query: _query, ...rest } = OF;
  const all = { ...rest, source: '§9', body: z.strictObject(body) };
  return params ? { ...all, params: z.strictObject(params) } : all;
}

function flagOf(schema: z.ZodType, name = 'field') {
  const [flag] = flagsOf(operation({ [name]: schema }));
  if (!flag) throw new Error('it has no flag');
  return flag;
}

const operators = z
  .strictObject({ eq: z.number().optional(), in: z.array(z.number()).optional() })
  .optional();

describe('a field is a flag', () => {
  test.each<[string, z.ZodType, object]>([
    ['a text', z.string(), { kind: 'scalar', takes: 'text', required: true, subject: false, choices: [] }],
    ['a number', z.number().optional(), { kind: 'scalar', takes: 'number', required: false }],
    ['a whole number', z.int(), { kind: 'scalar', takes: 'integer' }],
    ['yes or no', z.boolean(), { kind: 'boolean', takes: '' }],
    ['one of some', z.enum(['a', 'b']), { kind: 'choice', takes: 'choice', choices: ['a', 'b'] }],
    ['a list', z.array(z.int()).optional(), { kind: 'list', takes: 'item' }],
    ['a map', z.record(z.string(), z.string()), { kind: 'map', takes: 'name=value' }],
    [
      'filters of any field',
      z.record(z.string(), z.record(z.string(), z.unknown())),
      { kind: 'filters', takes: 'filter' },
    ],
    ['filters of some fields', z.strictObject({ gpu_ram: operators }), { kind: 'filters', takes: 'filter' }],
    ['an object', z.strictObject({ a: z.string() }), { kind: 'json', takes: 'json' }],
    ['a secret', secretText.optional(), { secret: true }],
    [
      'what is filled in',
      emptyWhenUnused,
      { required: true, fallback: '', byDefault: undefined, secret: false },
    ],
    [
      'what the service fills in',
      z.int().optional().meta({ default: 20 }),
      { required: false, fallback: undefined, byDefault: 20 },
    ],
  ])('%s', (_, schema, expected) => {
    expect(flagOf(schema)).toMatchObject(expected);
  });

  test.each<[z.ZodType, string]>([
    [z.string().describe('its name'), 'its name'],
    [z.string().max(20).describe('its name'), 'its name; at most 20 characters'],
    [z.string().regex(/^a+$/), 'form ^a+$'],
    [z.number().min(1).max(20), 'at least 1, at most 20'],
    [z.number().min(0), ''],
    [z.number().gt(0.5), 'more than 0.5'],
    [z.int(), ''],
  ])('whose description has the limits of %#', (schema, description) => {
    expect(flagOf(schema).description).toBe(description);
  });

  test('with dashes for underscores; those that name what it works on come first', () => {
    const body = { machine_ids: z.string(), idle: z.string(), bid: z.string().optional() };
    const flags = flagsOf(operation(body, { name: z.string() }));
    expect(flags.map(({ name, subject }) => [name, subject])).toEqual([
      ['name', true],
      ['machine-ids', true],
      ['idle', false],
      ['bid', false],
      ['extra', false],
    ]);
  });

  test('and the fields of an object are flags of their own, none of which must be given', () => {
    const schema = z.strictObject({ disk: z.int(), more: z.strictObject({ deep: z.string() }) });
    const flags = flagsOf(operation({ volume_info: schema }));
    expect(flags.map(({ path, name, kind, required }) => [path.join('.'), name, kind, required])).toEqual([
      ['volume_info', 'volume-info', 'json', true],
      ['volume_info.disk', 'volume-info-disk', 'scalar', false],
      ['volume_info.more', 'volume-info-more', 'json', false],
      ['extra', 'extra', 'map', false],
    ]);
  });
});

describe('the text of a flag', () => {
  const numbers = z.array(z.int());
  const texts = z.array(z.string());
  const map = z.record(z.string(), z.number());
  const open = z.record(z.string(), z.record(z.string(), z.unknown()));
  const known = z.strictObject({
    gpu_ram: operators,
    name: z.strictObject({ eq: z.string().optional() }).optional(),
  });

  test.each<[z.ZodType, readonly string[], unknown]>([
    [z.string(), ['a', 'b'], 'b'],
    [z.string(), [], ''],
    [z.int(), ['5'], 5],
    [z.int(), ['five'], 'five'],
    [z.boolean(), ['false'], false],
    [z.enum(['a']), ['a'], 'a'],
    [z.strictObject({ a: z.int() }), ['{"a":1}'], { a: 1 }],
    [numbers, ['1, 2', '3'], [1, 2, 3]],
    [numbers, ['[4,5]'], [4, 5]],
    [texts, ['a,b', 'c'], ['a,b', 'c']],
    [texts, ['["d"]', '[e'], ['d', '[e']],
    [map, ['A=1', 'B=2', 'A=3'], { A: 3, B: 2 }],
    [map, ['{"A":1}', 'B=x'], { A: 1, B: 'x' }],
    [map, ['A='], { A: '' }],
    [open, ['a = 5', 'a != 6'], { a: { eq: 5, neq: 6 } }],
    [
      open,
      ['a<1', 'b<=2', 'c>3', 'd >= 4', 'e==5'],
      { a: { lt: 1 }, b: { lte: 2 }, c: { gt: 3 }, d: { gte: 4 }, e: { eq: 5 } },
    ],
    [open, ['a in x, y', 'b notin z'], { a: { in: ['x', 'y'] }, b: { notin: ['z'] } }],
    [open, ['{"a":{"eq":1}}', 'a > 2'], { a: { eq: 1, gt: 2 } }],
    [
      open,
      ['gpu_name in [RTX_4090,"RTX 3090"] num_gpus>=4 verified=True', 'gpu_ram >= 24GB gpu_ram<48000MB'],
      {
        gpu_name: { in: ['RTX 4090', 'RTX 3090'] },
        num_gpus: { gte: 4 },
        verified: { eq: true },
        gpu_ram: { gte: 24_000, lt: 48_000 },
      },
    ],
    [
      open,
      ['name = my template, in use', "desc != 'a b' x=1"],
      { name: { eq: 'my template, in use' }, desc: { neq: 'a b' }, x: { eq: 1 } },
    ],
    [
      open,
      ['{"verified":true,"gpu_name":["A","B"],"n":{"gte":2}}'],
      { verified: { eq: true }, gpu_name: { in: ['A', 'B'] }, n: { gte: 2 } },
    ],
    [open, [`cpu_name="AMD EPYC in 7543" n=1`], { cpu_name: { eq: 'AMD EPYC in 7543' }, n: { eq: 1 } }],
    [open, [`name in ["a,b",'c',d] x in []`], { name: { in: ['a,b', 'c', 'd'] }, x: { in: [] } }],
    [known, ['gpu_ram>=2026-11-01'], { gpu_ram: { gte: 1_793_491_200 } }],
    [open, ['cpu_ram>=64GB'], { cpu_ram: { gte: 64_000 } }],
    [
      known,
      ['gpu_ram >= 24', 'gpu_ram in 24,48', 'name = 7'],
      { gpu_ram: { gte: 24, in: [24, 48] }, name: { eq: '7' } },
    ],
  ])('%# is read', (schema, given, value) => {
    const read = readFlag(flagOf(schema), given, () => {});
    expect(JSON.parse(JSON.stringify(read))).toEqual(value);
  });

  test.each<[z.ZodType, string, RegExp]>([
    [map, '=1', /^takes NAME=value, once for each, or one JSON object$/],
    [map, 'A', /^takes NAME=value/],
    [map, '{', /^is not JSON: /],
    [
      open,
      'a',
      /^takes 'FIELD OPERATOR VALUE' such as .* operators = != < <= > >= in notin; or one JSON object with eq, /,
    ],
    [open, 'a >', /^takes 'FIELD OPERATOR VALUE'/],
    [open, '> 5', /^takes 'FIELD OPERATOR VALUE'/],
    [open, '{x', /^is not JSON: /],
  ])('that is in no form is refused: %#', (schema, text, message) => {
    expect(() => readFlag(flagOf(schema), [text], () => {})).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message) as string }),
    );
  });
});

describe('the input', () => {
  test('is the object of --input with what flags say on top, and what is given by default below', () => {
    const o = z.strictObject({ p: z.int(), q: z.int() });
    const flags = flagsOf(operation({ a: z.string(), o, d: emptyWhenUnused }));
    const base = { a: 'base', o: { p: 1, q: 2 }, z: 9 };
    const given = { flags: new Map([['o-p', ['7']]]) };
    const input = { a: 'base', o: { p: 7, q: 2 }, z: 9, d: '' };
    expect(readInput(flags, given, base)).toEqual({ input, problems: [], notes: [] });
    expect(base.o.p).toBe(1);
    expect(readInput(flags, { flags: new Map() }, { d: 'own' }).input).toEqual({ d: 'own' });
  });

  test('has all that is wrong with it told at once, secrets left out', () => {
    const flags = flagsOf(
      operation({
        m: z.record(z.string(), z.string()),
        n: z.record(z.string(), z.string()).meta({ format: 'password' }),
      }),
    );
    const given = { flags: new Map(Object.entries({ m: ['x'], n: ['y'] })) };
    expect(readInput(flags, given, {}).problems).toEqual([
      '--m: "x" takes NAME=value, once for each, or one JSON object',
      '--n: takes NAME=value, once for each, or one JSON object',
    ]);
  });

  test('is wrong in words of the flag that it came by', () => {
    const of = operation({
      a: z.int().describe('how many'),
      b: z.boolean(),
      d: z.boolean().describe('whether'),
      o: z.strictObject({ p: z.int() }),
    });
    const flags = flagsOf(of);
    const told = (field: string, value?: unknown) =>
      describeInputProblem(of, flags, { field, message: 'is wrong', value });
    expect(told('a', 'x'.repeat(99))).toBe(
      `--a: is wrong (got "${'x'.repeat(79)}); it takes integer: how many [§9]`,
    );
    expect(told('b')).toBe('--b: is wrong [§9]');
    expect(told('o.p', 5)).toBe('--o-p: is wrong (got 5) [§9]');
    expect(told('o.z')).toBe('--o (o.z): is wrong [§9]');
    expect(told('z')).toBe('z: is wrong [§9]');
    expect(told('')).toBe('is wrong [§9]');
    expect(told('d')).toBe('--d: is wrong; it takes no value: whether [§9]');
  });
});
