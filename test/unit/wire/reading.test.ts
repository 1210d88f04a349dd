/** Over the whole table: what a service writes differently, leaves out or adds costs a field at most, or a row. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { OPERATION_IDS, operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { readAnswer, shownOnceFields } from '../../../src/wire/reading.ts';
import { decodeResponse, type Outcome } from '../../../src/wire/response.ts';
import {
  coreOf,
  fullAnswer,
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
  'users.current': ['id'],
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
  'tfa.login': ['session_key'],
  'tfa.setupTotp': ['secret'],
  'tfa.confirmNew': ['backup_codes'],
  'tfa.testSubmit': ['backup_codes'],
  'tfa.regenerateBackupCodes': ['backup_codes'],
  'apiKeys.create': ['key'],
  'apiKeys.reset': ['new_api_key'],
};

function decode(id: OperationId, answer: unknown): Outcome {
  return decodeResponse(operationOf(id), { status: 200, headers: {}, text: JSON.stringify(answer) });
}

/** The documented answer, and one with every field that the contract knows. */
function answersOf(id: OperationId): unknown[] {
  return [operationOf(id).example.response, fullAnswer(operationOf(id).response)];
}

function accepts(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}

function isField({ path }: Place): boolean {
  return typeof path.at(-1) === 'string';
}

function mayBeAbsent({ schema }: Place): boolean {
  return accepts(schema, undefined);
}

function valueAt(answer: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Record<string | number, unknown>)[name], answer);
}

function rowsAround(answer: unknown, { path }: Place): number {
  return (valueAt(answer, path.slice(0, -1)) as unknown[]).length;
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
      for (const { path, schema } of places.filter((place) => accepts(place.schema, 'text'))) {
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
        const once = path.length === 1 && shownOnceFields(response).includes(String(path[0]));
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
      for (const { path, value, schema } of places.filter(({ value: list }) => Array.isArray(list))) {
        const list = coreOf(schema);
        if (!(list instanceof z.ZodArray) || !Array.isArray(value)) continue;
        const bad = [null, 'row', 7, true, [], [[]], { nothing: 'of it' }];
        const once = shownOnceFields(response).includes(String(path[0]));
        for (const row of bad.filter((one) => !readAnswer(list.element as z.ZodType, one).success)) {
          const changed = withValue(answer, path, [...(value as unknown[]), row, ...(value as unknown[])]);
          const expected = withValue(answer, path, [...(value as unknown[]), ...(value as unknown[])]);
          const outcome = decode(id, changed);
          if (once && row !== null) expect.soft(outcome.kind).toBe('unreadable');
          else expect.soft(outcome, JSON.stringify(row)).toEqual({ kind: 'ok', value: expected });
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
    expect(shownOnceFields(response)).toEqual(SHOWN_ONCE[id] ?? []);
  });
});

describe.each(Object.entries(SHOWN_ONCE) as [OperationId, readonly string[]][])(
  'what %s shows once',
  (id, [name = '']) => {
    const { response } = operationOf(id);
    const full = fullAnswer(response) as Record<string, unknown>;

    test('comes through whatever the rest of the answer is', () => {
      const rest = fc.record(
        {
          ...Object.fromEntries(Object.keys(full).map((field) => [field, fc.jsonValue()])),
          success: fc.oneof(fc.constant(false), fc.jsonValue()),
          error: fc.oneof(fc.constant('some_error'), fc.jsonValue()),
          error_msg: fc.jsonValue(),
        },
        { requiredKeys: [] },
      );
      fc.assert(
        fc.property(rest, (others) => {
          const outcome = decode(id, { ...others, [name]: full[name] });
          expect(outcome).toMatchObject({ kind: 'ok', value: { [name]: full[name] } });
          expect(outcome.kind === 'ok' && accepts(response, outcome.value)).toBe(true);
        }),
      );
    });

    test('is never quoted or dropped where it cannot be read', () => {
      for (const answer of [{ [name]: { value: 's3cret' } }, { [name]: ['s3cret', {}] }, 's3cret'])
        for (const said of [{}, { success: false }, { error: 'some_error', msg: 'some words' }]) {
          const outcome = decode(id, typeof answer === 'string' ? answer : { ...answer, ...said });
          expect(outcome.kind).toBe('unreadable');
          expect(outcome.kind === 'unreadable' && outcome.reason).not.toContain('s3cret');
        }
    });
  },
);

describe('a list', () => {
  test('of which no row can be read is not taken for an empty one', () => {
    expect(decode('deployments.list', { deployments: [{ id: 'none' }, null] }).kind).toBe('unreadable');
    expect(decode('deployments.list', { deployments: [] }).kind).toBe('ok');
  });

  test('of which one row is broken keeps thousands of others, as they are', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ id: index, ttl: 300, extra: { index } }));
    const deployments = rows.with(5000, { id: 'none' } as never);
    expect(decode('deployments.list', { deployments })).toEqual({
      kind: 'ok',
      value: { deployments: rows.toSpliced(5000, 1) },
    });
  });
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
