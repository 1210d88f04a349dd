import * as fc from '../../support/fast-check.ts';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rulesOf, type Operation } from '../../../src/contract/define.ts';
import { COMMON_ERRORS, ERRORS, type ErrorCode } from '../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { EXAMPLE_HASH } from '../../../src/contract/operations/templates.ts';
import { DEFAULT_TEAM_KEY, startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { encodeRequest } from '../../../src/wire/request.ts';
import { arbitraryOf } from '../../support/arbitrary-input.ts';

/** Of each operation. `npm run test:long -- test/integration/emulator` has more. */
const RUNS = Number(process.env['RANDOM_REQUESTS'] ?? 20);

const agent = new Agent();
afterAll(() => agent.close());

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly body: string | undefined;
}

/** What the operation's own schemas and rules accept, as the client would send it. */
function wellFormed(operation: Operation): fc.Arbitrary<Sent> {
  const parts = [operation.params, operation.query, operation.body].flatMap((schema) =>
    schema ? [arbitraryOf(schema)] : [],
  );
  return fc
    .tuple(...parts, fc.boolean())
    .map((values) => inputOf(values))
    .map((input) => {
      for (const { field, isBroken } of rulesOf(operation))
        if (isBroken(input)) mend(operation, input, field);
      return encodeRequest(operation, input, DEFAULT_TEAM_KEY);
    })
    .filter((encoded) => encoded.ok)
    .map((encoded) => encoded.request);
}

function inputOf(values: readonly unknown[]): Record<string, unknown> {
  const input: Record<string, unknown> = Object.assign(
    {},
    ...values.filter((value) => typeof value === 'object'),
  );
  // A hash that leads somewhere, now and then.
  for (const name of ['hash_id', 'template_hash_id', 'template_hash']) {
    if (name in input && values.at(-1) === true) input[name] = EXAMPLE_HASH;
  }
  return input;
}

/** What a rule asks for; a new volume without a size is left out. */
function mend(operation: Operation, input: Record<string, unknown>, field: string): void {
  const [name = ''] = field.split('.');
  const examples: Record<string, unknown> = {
    image: 'a',
    code: '123456',
    secret: 'any',
    target_id: 1,
    tfa_method_id: 1,
  };
  input[name] =
    operation.example.input[name] ?? examples[name] ?? (name === 'phone_number' ? '+15551234567' : undefined);
}

const anyText = fc.oneof(fc.string(), fc.json());
const damage = fc.oneof(
  fc.tagged('body', { text: anyText }),
  fc.tagged('field', { at: fc.nat(), value: fc.jsonValue() }),
  fc.tagged('drop', { at: fc.nat() }),
  fc.tagged('add', { name: fc.string(), value: fc.jsonValue() }),
  // A URL leaves out `.` and `..`, and then it is another operation's.
  fc.tagged('path', { segment: fc.webSegment({ size: 'small' }).filter((text) => !/^\.{1,2}$/.test(text)) }),
  fc.tagged('query', { name: fc.constantFrom('select_filters', 'a', '__proto__'), text: anyText }),
);
type Damage = typeof damage extends fc.Arbitrary<infer One> ? One : never;

/** A value of another type, a field too many or too few, another path or query, or no JSON at all. */
function damaged(sent: Sent, wrong: Damage): Sent {
  const { target, body } = sent;
  switch (wrong.kind) {
    case 'body':
      return { ...sent, body: wrong.text };
    case 'path':
      return { ...sent, target: target.replaceAll(/(?<=\/)\d+(?=\/)/g, () => wrong.segment || '0') };
    case 'query': {
      const joint = target.includes('?') ? '&' : '?';
      return { ...sent, target: `${target}${joint}${wrong.name}=${encodeURIComponent(wrong.text)}` };
    }
    case 'field':
    case 'drop':
    case 'add':
      return { ...sent, body: JSON.stringify(damagedFields(body ?? '{}', wrong)) };
  }
}

function damagedFields(body: string, wrong: Extract<Damage, { kind: 'field' | 'drop' | 'add' }>): object {
  const fields = JSON.parse(body) as Record<string, unknown>;
  const names = Object.keys(fields);
  const name = wrong.kind === 'add' ? wrong.name : (names[wrong.at % Math.max(1, names.length)] ?? 'x');
  if (wrong.kind !== 'drop') return { ...fields, [name]: wrong.value };
  const { [name]: _, ...rest } = fields;
  return rest;
}

async function expectDeclared(emulator: Emulator, operation: Operation, sent: Sent): Promise<void> {
  const answer = await request(emulator.url + sent.target, {
    method: sent.method,
    body: sent.body ?? null,
    headers: { authorization: `Bearer ${DEFAULT_TEAM_KEY}` },
    dispatcher: agent,
  });
  const text = await answer.body.text();
  const reason = String(answer.headers['x-emulator-reason']);
  const body = JSON.parse(text) as Record<string, unknown> | string;
  expect(answer.statusCode, reason).not.toBe(500);
  if (typeof body === 'object' && body['msg'] === 'No templates found') return;
  // Two shapes that carry no code. With this status, only the serverless address of the public dialect refuses so.
  const isCodeless = typeof body === 'string' || 'error_msg' in body;
  if (answer.statusCode === 200 && !(isCodeless && operation.base === 'serverless')) {
    expect(operation.response.safeParse(body).success, text).toBe(true);
    return;
  }
  if (isCodeless) {
    expect(operation.base).toBe('serverless');
    return;
  }
  const code = body['error'] as ErrorCode;
  // A path parameter can be such that the path is another one, or none.
  if (body['error'] === 'unknown_operation') {
    expect(answer.statusCode).toBe(404);
    expect(sent.target).not.toMatch(/\/\d+\//);
    return;
  }
  // The public service has codes and statuses of its own.
  if (emulator.dialect === 'public') {
    expect(typeof code).toBe('string');
    return;
  }
  expect([...operation.errors, ...COMMON_ERRORS]).toContain(code);
  expect(ERRORS[code].status).toContain(answer.statusCode);
}

describe.each(['spec', 'public'] as const)(
  'in the dialect %s no request comes to an error that is not declared:',
  (dialect) => {
    let emulator: Emulator;
    beforeAll(async () => {
      emulator = await startEmulator({ dialect, clock: 'frozen' });
    });
    afterAll(() => emulator.close());

    const ids = OPERATION_IDS.filter((id) => dialect === 'public' || operationOf(id).origin === 'interface');
    test.each(ids)('%s', async (id) => {
      const operation = operationOf(id);
      await emulator.reset();
      const sound = wellFormed(operation);
      const requests = fc.oneof(
        sound,
        fc.tuple(sound, damage).map(([sent, wrong]) => damaged(sent, wrong)),
      );
      await fc.assert(
        fc.asyncProperty(requests, (sent) => expectDeclared(emulator, operation, sent)),
        { numRuns: RUNS },
      );
    });
  },
);
