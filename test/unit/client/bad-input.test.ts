import * as fc from '../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { RequestError } from '../../../src/client/errors.ts';
import { rulesOf, type Operation } from '../../../src/contract/define.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { partsOf } from '../../../src/wire/request.ts';
import { answer, AnsweringTransport } from '../../support/answering-transport.ts';

/** Anything that JSON or a careless caller can hand over. */
const odd = [Number.NaN, Infinity, -0, 2 ** 53, '', ' ', null, undefined, () => 1, Symbol('x')];
const anything = fc.oneof(
  fc.anything({ withDate: true, withBigInt: true, withNullPrototype: true }),
  fc.constantFrom<unknown>(...odd),
);

/** An operation, its example, and what is done to it: fields replaced, dropped, added. */
const badCalls = fc.constantFrom(...OPERATION_IDS).chain((id) => {
  const operation = operationOf(id);
  const fields = partsOf(operation).flatMap(({ schema }) => Object.keys(schema.shape));
  const field = fields.length > 0 ? fc.oneof(fc.constantFrom(...fields), fc.string()) : fc.string();
  return fc.record({
    id: fc.constant(id),
    replaced: fc.dictionary(field, anything, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
    dropped: fc.subarray(fields),
  });
});

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

function fits(operation: Operation, input: Readonly<Record<string, unknown>>): boolean {
  const parts = partsOf(operation);
  const known = new Set(parts.flatMap(({ schema }) => Object.keys(schema.shape)));
  const areRead = parts.every(({ schema }) => {
    const own = Object.entries(input).filter(([name, value]) => name in schema.shape && value !== undefined);
    const parsed = schema.safeParse(Object.fromEntries(own));
    return parsed.success && isJson(parsed.data);
  });
  const isBroken = rulesOf(operation).some((rule) => rule.isBroken(input));
  return areRead && !isBroken && Object.keys(input).every((name) => known.has(name));
}

test('over 2,000 bad inputs: none that the contract refuses is sent, none crashes, each problem names its field', async () => {
  const transport = new AnsweringTransport(answer(200, {}));
  const client = createClient({ baseUrl: 'http://service.invalid', apiKey: 'the-secret-key', transport });
  let [tried, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(badCalls, async ({ id, replaced, dropped }) => {
      tried += 1;
      const operation = operationOf(id);
      const input: Record<string, unknown> = { ...operation.example.input, ...replaced };
      for (const name of dropped) delete input[name];
      const isValid = fits(operation, input);
      const before = transport.asked.length;
      const error: unknown = await client.call(id, input, { retry: false }).then(
        () => undefined,
        (cause: unknown) => cause,
      );
      if (isValid) {
        expect(error).not.toBeInstanceOf(RequestError);
        return;
      }
      refused += 1;
      expect(transport.asked).toHaveLength(before);
      expect(error).toBeInstanceOf(RequestError);
      const { problems, message } = error as RequestError;
      expect(problems.length).toBeGreaterThan(0);
      for (const problem of problems) expect(problem.message).not.toBe('');
      expect(message).not.toContain('the-secret-key');
    }),
    { numRuns: 2_400 },
  );
  expect(refused / tried).toBeGreaterThan(0.8);
});

test.each([
  ['instances.create', { offer_id: 1, image: 'x', env: { 'BAD NAME': 'hf_secret' } }],
  ['instances.create', { offer_id: 1, image: 'x', env: '-e TOKEN=hf_secret' }],
  ['instances.create', { offer_id: 1, image: 'x', onstart: `TOKEN=hf_secret ${'x'.repeat(5_000)}` }],
  ['templates.create', { name: 'x', image: 'x', env: '-e TOKEN=hf_secret hf_secret' }],
] as const)('what may hold a secret is not repeated: %s %#', async (id, input) => {
  await using client = createClient({ baseUrl: 'http://a.test', apiKey: 'key' });
  const error = await client.call(id, input).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RequestError);
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('hf_secret');
});
