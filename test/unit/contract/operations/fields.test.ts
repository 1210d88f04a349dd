/** What single fields of the interface take, and as what answers are read that say it in another way. */
import { expect, test } from 'vitest';
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

test('the answer about a deployment need not repeat its id, and has it in its wrapper', () => {
  const { response } = operationOf('deployments.get');
  expect(response.parse({ deployment: { ttl: 30 } })).toEqual({ deployment: { ttl: 30 } });
  for (const none of [[], {}, { id: 1 }, { deployment: {} }, 'gone'])
    expect(readAnswer(response, none).success).toBe(false);
});

test.each(['id', 'result'])('the id of a new worker group is read from %s', (name) => {
  const { response } = operationOf('workergroups.create');
  expect(readAnswer(response, { success: true, [name]: 9 })).toMatchObject({ data: { id: 9 } });
});
