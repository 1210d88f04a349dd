/** Whatever a service answers, from the words down to the bytes: an answer that fits, or an error that says what is wrong. */
import * as fc from '../../support/fast-check.ts';
import { afterAll, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { CallError } from '../../../src/client/errors.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { casesOf, PATIENCE, withoutHang } from '../../support/bad-input/cases.ts';
import { honestAnswer, liesTo, startLyingService, type Lie } from '../../support/bad-input/lies.ts';

const KEY = 'sk-answers-0123456789';

let lie: Lie;
const service = await startLyingService(() => lie);
afterAll(() => service[Symbol.asyncDispose]());

const lies = fc.constantFrom(...OPERATION_IDS).chain((id) => fc.tuple(fc.constant(id), liesTo(id)));

test('of a client: what fits the contract, or a CallError, at once', { timeout: PATIENCE }, async () => {
  await fc.assert(
    fc.asyncProperty(lies, async ([id, made]) => {
      const { response, example } = operationOf(id);
      await using client = createClient({ baseUrl: service.url, apiKey: KEY });
      const call = (): Promise<unknown> => client.call(id, example.input, { retry: false });
      lie = made;
      try {
        const value = await withoutHang(call);
        expect(response.safeParse(value).success).toBe(true);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        // Each answer is whole, or ends its connection.
        expect(error.code).not.toBe('timeout');
        expect(error.message).not.toContain(KEY);
        // The next call would wait as long as the service says.
        if (error.code === 'throttled') return;
      }
      lie = honestAnswer(id);
      // Nothing is left over in a connection.
      expect(await call()).toEqual(example.response);
    }),
    casesOf(20),
  );
});
