import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { partsOf } from '../../../src/wire/request.ts';

describe.each(OPERATION_IDS)('%s', (id) => {
  const operation = operationOf(id);

  test('names its path parameters, and no field twice', () => {
    const named = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(operation.params?.shape ?? {})).toEqual(named);
    const fields = partsOf(operation).flatMap(({ schema }) => Object.keys(schema.shape));
    expect(new Set(fields).size).toBe(fields.length);
  });

  test('has a spacing in whole ms, or none', () => {
    const { publicSpacingMs = 1 } = operation;
    expect(Number.isSafeInteger(publicSpacingMs) && publicSpacingMs > 0).toBe(true);
  });

  test('documents itself: summary, section, known errors, known replacement', () => {
    expect(operation.summary).not.toBe('');
    expect(operation.source).toMatch(/§\d|public dialect/);
    expect(operation.errors.filter((code: ErrorCode) => !(code in ERRORS))).toEqual([]);
    expect(new Set(operation.errors).size).toBe(operation.errors.length);
    if (operation.replacedBy !== undefined) expect(OPERATION_IDS).toContain(operation.replacedBy);
  });
});
