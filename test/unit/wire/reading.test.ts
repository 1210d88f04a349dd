/** Over the whole table: what a service writes differently, leaves out or adds costs a field at most, or a row. */
import * as fc from '../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { isRecord } from '../../../src/contract/is-record.ts';
import { shownOnce } from '../../../src/contract/schemas.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../../../src/contract/operations.ts';
import {
  hasRows,
  namesShownOnce,
  readAnswer,
  rowsLeftOut,
  showsOnce,
  shownOncePaths,
} from '../../../src/wire/reading.ts';
import { decodeResponse, type DecodedResponse } from '../../../src/wire/response.ts';
import {
  coreOf,
  fullAnswer,
  isAt,
  leadsTo,
  placesOf,
  withValue,
  without,
  type Path,
  type Place,
} from '../../support/answer-places.ts';

/** Without these an answer, or a row of one, says nothing. All other fields may be missing. */
const ESSENTIAL: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  'machines.maintenances': ['*.machine_id', '*.start_time'],
  'templates.search': ['templates', 'templates.*.hash_id'],
  'templates.create': ['template', 'template.hash_id'],
  'templates.edit': ['template', 'template.hash_id'],
  'instances.create': ['new_contract'],
  'instances.createByPost': ['new_contract'],
  'instances.list': ['instances', 'instances.*.id'],
  'instances.createBulk': ['results'],
  'instances.page': ['instances', 'instances.*.id'],
  'instances.filters': ['filters'],
  'instances.get': ['instances', 'instances.id'],
  'offers.search': ['offers', 'offers.*.id'],
  'serverless.endpointsSpend': ['endpoints', 'endpoints.*.id'],
  'serverless.workergroupsSpend': ['workergroups', 'workergroups.*.id'],
  'charges.list': ['results', 'results.*.amount'],
  'tfa.status': ['methods', 'methods.*.id', 'methods.*.method'],
  'tfa.setupTotp': ['secret'],
  'tfa.update': ['method.id', 'method.method'],
  'tfa.regenerateBackupCodes': ['backup_codes'],
  'deployments.heartbeat': ['deployment_id'],
  'deployments.list': ['deployments', 'deployments.*.id'],
  'deployments.get': ['deployment'],
  'deployments.versions': ['versions', 'versions.*.id'],
  'deployments.create': ['deployment_id'],
  'endpointGroups.create': ['result'],
  'endpointGroups.list': ['results', 'results.*.id'],
  'endpointGroups.get': ['result', 'result.id'],
  'endpointGroups.workers': ['workers', 'workers.*.id'],
  'workergroups.list': ['results', 'results.*.id'],
  'workergroups.create': ['id'],
  'workergroups.workers': ['workers', 'workers.*.id'],
  'apiKeys.create': ['key'],
  'apiKeys.list': ['apikeys', 'apikeys.*.id'],
  'apiKeys.get': ['id'],
  'apiKeys.reset': ['new_api_key'],
};

const SHOWN_ONCE: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  'instances.create': ['new_contract'],
  'instances.createByPost': ['new_contract'],
  'instances.createBulk': ['results.*.new_contract'],
  'tfa.login': ['session_key'],
  'tfa.setupTotp': ['secret'],
  'tfa.confirmNew': ['backup_codes'],
  'tfa.testSubmit': ['backup_codes'],
  'tfa.regenerateBackupCodes': ['backup_codes'],
  'apiKeys.create': ['key'],
  'apiKeys.reset': ['new_api_key'],
};

function decode(id: OperationId, answer: unknown): DecodedResponse {
  return decodeResponse(operationOf(id), { status: 200, headers: {}, text: JSON.stringify(answer) });
}

/** The documented answer, and one with every field that the contract knows. */
function answersOf(id: OperationId): unknown[] {
  return [operationOf(id).example.response, fullAnswer(operationOf(id).response)];
}

function accepts(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}

function isField({ isRow }: Place): boolean {
  return !isRow;
}

function mayBeAbsent({ schema }: Place): boolean {
  return accepts(schema, undefined);
}

function valueAt(answer: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Record<string | number, unknown>)[name], answer);
}

function rowsAround(answer: unknown, { path }: Place): number {
  return Object.keys(valueAt(answer, path.slice(0, -1)) as object).length;
}

/** Of a list, or of a map whose entries are read as rows are. */
function elementOf(schema: z.ZodType, value: unknown): z.ZodType | undefined {
  const core = coreOf(schema);
  const options = core instanceof z.ZodUnion ? (core.options as z.ZodType[]) : [core];
  const fit = options.find((option) => accepts(option, value));
  if (fit instanceof z.ZodArray) return fit.element as z.ZodType;
  return fit instanceof z.ZodRecord ? (fit.valueType as z.ZodType) : undefined;
}

/** What is lost with a field that cannot be read: it alone, else the row that it is in where others remain, and so on. */
function lostWith(id: OperationId, answer: unknown, place: Place): Path | undefined {
  const places = placesOf(operationOf(id).response, answer);
  const around = places.filter(({ path }) => path.every((name, index) => name === place.path[index]));
  const isLost = (one: Place): boolean => (isField(one) ? mayBeAbsent(one) : rowsAround(answer, one) > 1);
  return around.findLast(isLost)?.path;
}

describe.each(OPERATION_IDS)('%s', (id) => {
  const { response } = operationOf(id);

  describe.each([
    ['its documented answer', 0],
    ['an answer with all fields', 1],
  ])('%s', (_, which) => {
    const answer = answersOf(id)[which];
    const places = placesOf(response, answer);
    const asItIs = decode(id, answer);

    test('is read as it is', () => expect(asItIs).toEqual({ kind: 'ok', value: answer }));

    test('numbers as text, text as numbers, booleans as text, 0 or 1, mean the same', () => {
      for (const { path, schema, value } of places) {
        const other =
          typeof value === 'number'
            ? [String(value), ` ${value} `, `${value}.0`]
            : typeof value === 'boolean'
              ? [Number(value), String(value), String(Number(value)), value ? 'True' : 'False']
              : [];
        for (const written of other) {
          const changed = withValue(answer, path, written);
          // A field that takes text as well as numbers keeps the text.
          const expected = accepts(schema, written) ? changed : answer;
          expect.soft(decode(id, changed), `${path.join('.')}: ${String(written)}`).toEqual({
            kind: 'ok',
            value: expected,
          });
        }
        if (!accepts(schema, 'text') || accepts(schema, 5)) continue;
        const changed = withValue(answer, path, 5);
        const expected = accepts(response, changed) ? changed : withValue(answer, path, '5');
        expect.soft(decode(id, changed), path.join('.')).toEqual({ kind: 'ok', value: expected });
      }
    });

    test('a word that nobody knew is kept', () => {
      for (const { path, schema, isRow, value } of places) {
        // A row that is a text where others have fields is read as one of its fields.
        if (!accepts(schema, 'text') || (isRow && isRecord(value))) continue;
        const changed = withValue(answer, path, 'something new');
        expect.soft(decode(id, changed), path.join('.')).toEqual({ kind: 'ok', value: changed });
        expect(accepts(schema, 'something new')).toBe(true);
      }
    });

    test.each([
      ['null', null],
      ['an empty object', {}],
      ['an empty list', []],
      ['a list of lists', [['?']]],
      ['nonsense', { is: { no: 'field' } }],
      ['nothing', undefined],
    ])('a field that is %s costs itself at most', (_name, written) => {
      for (const place of places.filter(isField)) {
        const { path, schema } = place;
        const once = shownOncePaths(response).some((pattern) => leadsTo(path, pattern));
        if (accepts(schema, written) && written !== undefined) continue;
        const changed = written === undefined ? without(answer, path) : withValue(answer, path, written);
        const outcome = decode(id, changed);
        if (accepts(response, changed)) {
          // Of another of the shapes that the answer may have.
          expect.soft(outcome, path.join('.')).toEqual({ kind: 'ok', value: changed });
          continue;
        }
        const lost = lostWith(id, answer, place);
        if (lost === undefined || (once && written !== null && written !== undefined)) {
          expect.soft(outcome.kind, path.join('.')).toBe('unreadable');
          continue;
        }
        const rest = without(answer, lost);
        expect.soft(outcome, path.join('.')).toEqual({ kind: 'ok', value: rest });
        expect.soft(accepts(response, rest), path.join('.')).toBe(true);
      }
    });

    test('a broken row is lost alone', () => {
      for (const { path, value, schema } of places) {
        const element = elementOf(schema, value);
        if (!element) continue;
        const bad = [null, 'row', 7, true, [], [[]], { nothing: 'of it' }];
        const once = shownOncePaths(response).some((pattern) => leadsTo(path, pattern));
        for (const row of bad.filter((one) => !readAnswer(element, one).success)) {
          const [broken, expected] = Array.isArray(value)
            ? [
                [...(value as unknown[]), row, ...(value as unknown[])],
                [...(value as unknown[]), ...(value as unknown[])],
              ]
            : [{ ...(value as object), broken: row }, value];
          const outcome = decode(id, withValue(answer, path, broken));
          if (once && row !== null) expect.soft(outcome.kind).toBe('unreadable');
          else
            expect.soft(outcome, JSON.stringify(row)).toEqual({
              kind: 'ok',
              value: withValue(answer, path, expected),
            });
        }
      }
    });

    test('fields that are added, among them an empty error, are kept', () => {
      const added = { error: '', error_msg: '', added: { by: ['the', 'service'] } };
      if (Array.isArray(answer)) return;
      const more = { ...(answer as object), ...added };
      const expected = { ...(valueAt(asItIs, ['value']) as object), ...added };
      expect(decode(id, more)).toEqual({ kind: 'ok', value: expected });
    });
  });

  test('needs no more of an answer than what it is asked for', () => {
    const needed = placesOf(response, fullAnswer(response))
      .filter((place) => isField(place) && !mayBeAbsent(place))
      .map(({ path }) => path.map((name) => (typeof name === 'number' ? '*' : name)).join('.'));
    expect([...new Set(needed)]).toEqual(ESSENTIAL[id] ?? []);
  });

  test('says what is shown once', () => {
    expect(shownOncePaths(response)).toEqual(SHOWN_ONCE[id] ?? []);
  });
});

describe.each(Object.entries(SHOWN_ONCE) as [OperationId, readonly string[]][])(
  'what %s shows once',
  (id, [pattern = '']) => {
    const { response } = operationOf(id);
    const full = fullAnswer(response);
    const names = pattern.split('.');

    function valuesOf(answer: unknown): unknown[] {
      return placesOf(response, answer)
        .filter(({ path }) => isAt(path, pattern))
        .map(({ value }) => value);
    }
    const [value] = valuesOf(full);

    test('comes through whatever the rest of the answer is', () => {
      fc.assert(
        fc.property(holding(full, names, value), (answer) => {
          const outcome = decode(id, answer);
          expect(outcome.kind).toBe('ok');
          if (outcome.kind !== 'ok') return;
          expect(valuesOf(outcome.value)).toContainEqual(value);
          expect(accepts(response, outcome.value)).toBe(true);
        }),
      );
    });

    test('is never quoted or dropped where it cannot be read', () => {
      const unreadable = [{ value: 's3cret' }, ['s3cret', {}]];
      for (const answer of [...unreadable.map((one) => wrapped(names, one)), 's3cret'])
        for (const said of [{}, { success: false }, { error: 'some_error', msg: 'some words' }]) {
          const outcome = decode(id, isRecord(answer) ? { ...answer, ...said } : answer);
          expect(outcome.kind).toBe('unreadable');
          expect(outcome.kind === 'unreadable' && outcome.reason).not.toContain('s3cret');
        }
    });
  },
);

/** Answers with a value at a place, and anything else around it. */
function holding(full: unknown, [name, ...rest]: readonly string[], value: unknown): fc.Arbitrary<unknown> {
  if (name === undefined) return fc.constant(value);
  if (name === '*') {
    const row = holding((full as unknown[])[0], rest, value);
    const other: fc.Arbitrary<unknown> = fc.oneof(
      fc.constant(null),
      fc.string(),
      fc.dictionary(fc.string(), fc.jsonValue()),
    );
    return fc
      .tuple(fc.array(other), row, fc.array(other), fc.boolean())
      .map(([before, one, after, isMap]): unknown => {
        const rows = before.concat([one], after);
        return isMap ? Object.fromEntries(rows.map((each, index) => [String(3000 + index), each])) : rows;
      });
  }
  const fields = full as Readonly<Record<string, unknown>>;
  const inside = holding(fields[name], rest, value);
  const others = fc.record(
    {
      ...Object.fromEntries(Object.keys(fields).map((field) => [field, fc.jsonValue()])),
      success: fc.oneof(fc.constant(false), fc.jsonValue()),
      error: fc.oneof(fc.constant('some_error'), fc.jsonValue()),
      error_msg: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  return fc.tuple(others, inside).map(([around, inner]) => Object.assign(around, { [name]: inner }));
}

/** The least answer that has a value at a place. */
function wrapped([name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  return { [name === '*' ? '3001' : name]: wrapped(rest, value) };
}

test('the ids of what a bulk creation rented come through in each of the shapes that they may have', () => {
  const rented = (results: unknown, more: object = {}): unknown => {
    const outcome = decode('instances.createBulk', { results, ...more });
    return outcome.kind === 'ok' ? (outcome.value as { results: unknown }).results : outcome.kind;
  };
  const refused = { success: false, error: 'invalid_offer', msg: 'gone' };
  const no = { success: false, error: 'some_failed' };
  expect(rented({ 3001: { new_contract: '505', success: 1 }, 3002: refused }, no)).toEqual({
    3001: { new_contract: 505, success: true },
    3002: refused,
  });
  expect(rented({ 3001: 505, 3002: '506', 3003: 'no such offer', 3004: null }, no)).toEqual({
    3001: { new_contract: 505 },
    3002: { new_contract: 506 },
    3003: { msg: 'no such offer' },
  });
  expect(rented([505, 'no such offer'], no)).toEqual([{ new_contract: 505 }, { msg: 'no such offer' }]);
  expect(rented({ 3001: { new_contract: 505 }, 3002: { new_contract: {} } })).toBe('unreadable');
  expect(rented({ 3001: { new_contract: 505 }, 3002: [506] })).toBe('unreadable');
  // Nothing was rented: each still has its reason.
  expect(rented({ 3001: refused, 3002: { new_contract: null } }, no)).toEqual({
    3001: refused,
    3002: { new_contract: null },
  });
  expect(rented({}, no)).toBe('refused');
  expect(rented(undefined, no)).toBe('refused');
});

test('a list of which no row can be read is not taken for an empty one', () => {
  expect(decode('deployments.list', { deployments: [{ id: 'none' }, null] }).kind).toBe('unreadable');
  expect(decode('deployments.list', { deployments: [] }).kind).toBe('ok');
});

test('no answer has a closed set of words: a new one would break the type', () => {
  const closed = OPERATION_IDS.flatMap((id) => {
    const places = placesOf(operationOf(id).response, fullAnswer(operationOf(id).response));
    return places
      .filter(({ schema }) => coreOf(schema) instanceof z.ZodEnum || coreOf(schema) instanceof z.ZodLiteral)
      .map(({ path }) => `${id} ${path.join('.')}`);
  });
  expect(closed).toEqual([]);
});

describe('rows that could not be read', () => {
  const list = operationOf('deployments.list').response;

  test('are counted, and nothing else sees the count', () => {
    const deployments = [{ id: 1 }, { id: null }, { id: 2, ttl: 'soon' }, 'row'];
    const { data } = readAnswer(list, { deployments });
    expect(rowsLeftOut(data)).toBe(2);
    expect(data).toStrictEqual({ deployments: [{ id: 1 }, { id: 2 }] });
    expect(JSON.stringify(data)).toBe('{"deployments":[{"id":1},{"id":2}]}');
    expect(rowsLeftOut(readAnswer(list, { deployments: [{ id: '1' }] }).data)).toBe(0);
    expect(rowsLeftOut(undefined)).toBe(0);
  });

  test('count once, by the alternative that is taken', () => {
    const rows = z.array(z.looseObject({ id: z.int() }));
    const either = z.looseObject({
      list: z.union([z.strictObject({ rows, more: z.int() }), z.looseObject({ rows })]),
    });
    expect(rowsLeftOut(readAnswer(either, { list: { rows: [{ id: 1 }, {}] } }).data)).toBe(1);
  });
});

describe('what is shown once', () => {
  const schema = z.looseObject({ one: z.looseObject({ token: shownOnce(z.string()).optional() }) });
  const whole = shownOnce(z.string());

  test('is there or not', () => {
    expect(showsOnce(schema, { one: { token: 't' } })).toBe(true);
    for (const token of [undefined, null, '']) expect(showsOnce(schema, { one: { token } })).toBe(false);
    expect(showsOnce(schema, { one: null })).toBe(false);
    expect([showsOnce(whole, 't'), showsOnce(whole, '')]).toEqual([true, false]);
  });

  test.each<[place: string, schema: z.ZodType, path: string]>([
    ['the whole answer, which may be absent', whole.optional(), ''],
    ['or null, or have a default', whole.nullable().default('d'), ''],
    ['each row of a list', z.looseObject({ rows: z.array(whole) }), 'rows.*'],
    ['each entry of a map', z.record(z.string(), whole), '*'],
    ['one of several shapes', z.union([z.int(), z.looseObject({ key: whole })]), 'key'],
  ])('may be %s', (_, holder, path) => expect(shownOncePaths(holder)).toEqual([path]));

  test('has rows, or is one value', () => {
    const list = z.array(whole);
    expect([hasRows(list, ['t']), hasRows(list, []), hasRows(schema, { one: {} })]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('is named in a text that is cut off', () => {
    expect(namesShownOnce(schema, '{"one":{"token":"t')).toBe(true);
    expect(namesShownOnce(schema, '{"one":{"tok')).toBe(false);
    const both = z.looseObject({ a: shownOnce(z.string()), b: shownOnce(z.string()) });
    expect(namesShownOnce(both, '"b"')).toBe(true);
  });
});

describe('what stands for a value', () => {
  const one = (schema: z.ZodType, value: unknown) =>
    (readAnswer(z.looseObject({ value: schema }), { value }).data as { value?: unknown } | undefined)?.value;

  test.each([
    [' 1e5 ', 1e5],
    ['1.25', 1.25],
    ['-2.50E-10', -2.5e-10],
    ['1.5e+10', 1.5e10],
    ['x1', undefined],
    ['1x', undefined],
    ['1e', undefined],
    ['', undefined],
    [[4], undefined],
  ])('%j for a number', (value, number) => {
    expect(one(z.number(), value)).toBe(number);
  });

  test.each([
    [' True ', true],
    ['1', true],
    [0, false],
    ['FALSE', false],
    ['yes', undefined],
  ])('%j for a boolean', (value, boolean) => {
    expect(one(z.boolean(), value)).toBe(boolean);
  });

  test('a number for a string, and nothing else', () => {
    expect(one(z.string(), 7)).toBe('7');
    expect(one(z.string(), true)).toBeUndefined();
  });

  test('entries that cannot be read are left out and counted; with none left, none is lost', () => {
    const map = z.record(z.string(), z.looseObject({ id: z.int() }));
    const { data } = readAnswer(map, { a: { id: '1' }, b: { id: 'x' }, c: {} });
    expect(data).toEqual({ a: { id: 1 } });
    expect(rowsLeftOut(data)).toBe(2);
    expect(readAnswer(map, { b: { id: 'x' } }).success).toBe(false);
    const lists = z.looseObject({ a: z.array(z.int()), b: z.array(z.int()) });
    expect(rowsLeftOut(readAnswer(lists, { a: [1, 'x'], b: [1, 'x', 'y'] }).data)).toBe(3);
  });
});
