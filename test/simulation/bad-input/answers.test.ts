/** Whatever a service answers, from the words down to the bytes: an answer that fits, or an error that says what is wrong. */
import * as fc from '../../support/fast-check.ts';
import { afterAll, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { CallError } from '../../../src/client/errors.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { casesOf, PATIENCE, withoutHang } from '../../support/bad-input/cases.ts';
import { honestAnswer, liesTo, startLyingService, type Lie } from '../../support/bad-input/lies.ts';

const KEY = 'sk-answers-0123456789';

let lie: Lie;
const service = await startLyingService(() => lie);
const client = createClient({ baseUrl: service.url, apiKey: KEY });
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

function call(id: OperationId): Promise<unknown> {
  return client.call(id, operationOf(id).example.input, { retry: false });
}

const lies = fc.constantFrom(...OPERATION_IDS).chain((id) => fc.tuple(fc.constant(id), liesTo(id)));

test('of a client: what fits the contract, or a CallError, at once', { timeout: PATIENCE }, async () => {
  await fc.assert(
    fc.asyncProperty(lies, async ([id, made]) => {
      const { response, example } = operationOf(id);
      lie = made;
      try {
        const value = await withoutHang(() => call(id));
        expect(response.safeParse(value).success).toBe(true);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        // Each answer is whole, or ends its connection.
        expect(error.code).not.toBe('timeout');
        expect(error.message).not.toContain(KEY);
      }
      lie = honestAnswer(id);
      // Nothing is left over in a connection.
      expect(await call(id)).toEqual(example.response);
    }),
    casesOf(20),
  );
});
