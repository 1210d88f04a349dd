/** What single fields of the interface take, and as what answers are read that say it in another way. */
import { describe, expect, test } from 'vitest';
import { operationOf } from '../../../../src/contract/operations.ts';
import { machineIds } from '../../../../src/contract/operations/machines.ts';
import { filterOn, isSecret, phoneNumber, secretText } from '../../../../src/contract/schemas.ts';
import * as z from 'zod';
import { readAnswer } from '../../../../src/wire/reading.ts';

function refusedWith(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return error?.issues.map(({ path, message }) => [...path, message].join(': ')) ?? [];
}

test('machine ids are a list, one, or a string of them', () => {
  for (const ids of [[1, 2], 7, '11', ' 11 , 12 ']) expect(refusedWith(machineIds, ids)).toEqual([]);
  for (const none of [undefined, null])
    expect(refusedWith(machineIds, none)).toEqual([expect.not.stringContaining('"11,12"')]);
  for (const others of ['11;12', 'x11', '11x', {}])
    expect(refusedWith(machineIds, others)).toEqual([expect.stringContaining('"11,12"')]);
});

test('a phone number is in E.164 form', () => {
  expect(refusedWith(phoneNumber, '+15551234567')).toEqual([]);
  for (const number of ['0049', 'tel:+15551234567', '+15551234567 ', '+05551234567'])
    expect(refusedWith(phoneNumber, number)).toHaveLength(1);
});

test('a filter names an operator', () => {
  expect(refusedWith(filterOn(z.int()), {})).toEqual(['name at least one operator']);
  expect(refusedWith(filterOn(z.int()), { eq: 1 })).toEqual([]);
});

test('a secret is one inside of what may be absent, too', () => {
  for (const secret of [secretText, secretText.optional(), secretText.nullable()])
    expect(isSecret(secret)).toBe(true);
  for (const other of [z.string(), z.string().min(1).optional()]) expect(isSecret(other)).toBe(false);
});

describe('an answer', () => {
  test('may have the fields of an upload as pairs, or as text', () => {
    const { response, example } = operationOf('deployments.create');
    const read = (upload_fields: unknown) => {
      const { data } = readAnswer(response, { ...(example.response as object), upload_fields });
      return (data as { upload_fields?: unknown }).upload_fields;
    };
    const fields = { key: 'a', policy: 'b' };
    const pairs = Object.entries(fields);
    for (const given of [fields, pairs, JSON.stringify(fields), JSON.stringify(pairs)])
      expect(read(given)).toEqual(fields);
    for (const other of ['key=a', ['key', 'a'], [pairs[0], ['policy']], [pairs[0], 'policy'], 7])
      expect(read(other)).toBeUndefined();
  });

  test('of a deployment may be it, without what is around it, but not empty', () => {
    const { response } = operationOf('deployments.get');
    expect(response.parse({ id: 1 })).toEqual({ deployment: { id: 1 } });
    expect(response.parse({ deployment: { ttl: 30 } })).toEqual({ deployment: { ttl: 30 } });
    const empty = { deployment: { name: 'x' } };
    expect(refusedWith(response, empty)).toEqual(['deployment: neither id nor ttl: no deployment']);
    for (const none of [[], {}, { success: true }, { deployment: null }, 'gone'])
      expect(readAnswer(response, none).success).toBe(false);
  });
});

test.each(['id', 'result'])('the id of a new worker group is read from %s', (name) => {
  const { response } = operationOf('workergroups.create');
  expect(readAnswer(response, { success: true, [name]: 9 })).toMatchObject({ data: { id: 9 } });
});
