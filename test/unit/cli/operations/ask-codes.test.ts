/** What a person at a terminal is asked for, over a transport that answers as a test says. */
import { describe, expect, test } from 'vitest';
import { completeInput } from '../../../../src/cli/operations/perform.ts';
import type { Console } from '../../../../src/cli/console.ts';
import { operationOf, type OperationId } from '../../../../src/contract/operations.ts';
import { answer, AnsweringTransport } from '../../../support/answering-transport.ts';

const { signal } = new AbortController();
const STATUS = {
  methods: [
    { id: 1, method: 'sms', phone_number: '+1\u001B[2J***67', is_primary: true },
    { id: 2, method: 'totp' },
  ],
  new_method_authorized: false,
};

async function complete(id: OperationId, input: Record<string, unknown>, answers?: readonly string[]) {
  const transport = new AnsweringTransport(({ url }) =>
    answer(200, url.endsWith('/status/') ? STATUS : { secret: 'sent', msg: 'sent\u001B[2J by sms' }),
  );
  const client = transport.client();
  const [left, asked, said] = [[...(answers ?? [])], [] as string[], [] as string[]];
  const console = {
    err: (text: string) => said.push(text),
    ask: answers && ((question: string) => (asked.push(question), Promise.resolve(left.shift() ?? ''))),
  } as unknown as Console;
  const completed = await completeInput(operationOf(id), input, { client, console, signal });
  return { completed, asked, said, calls: transport.calls.map((call) => call.replace('/api/v0/tfa/', '')) };
}

describe('a second factor', () => {
  test('is asked for until it has six digits, and may be sent again', async () => {
    const ran = await complete('tfa.login', { admin: true }, ['12345', '1234567', 'x123456', 'r', '123456']);
    const proof = { tfa_method: 'sms', tfa_method_id: 1, code: '123456', secret: 'sent' };
    expect(ran.completed).toEqual({ admin: true, ...proof });
    const question = '6-digit code sent by sms (+1***67), or r to have it sent again: ';
    expect(ran.asked).toEqual(Array.from({ length: 5 }, () => question));
    const wrong = Array.from({ length: 3 }, () => 'A code has 6 digits.\n');
    expect(ran.said).toEqual(['sent by sms\n', ...wrong, 'Sent again.\n']);
    expect(ran.calls).toEqual(['GET status/', 'POST sms/', 'POST sms/resend/']);
  });

  test('of an authenticator is not sent, and so not sent again', async () => {
    const ran = await complete('tfa.login', { tfa_method: 'totp', tfa_method_id: 2 }, ['r', '123456']);
    expect(ran.completed).toEqual({ tfa_method: 'totp', tfa_method_id: 2, code: '123456' });
    expect([ran.asked[0], ran.said]).toEqual([
      '6-digit code from your authenticator: ',
      ['A code has 6 digits.\n'],
    ]);
  });

  test.each([{ code: '123456' }, { backup_code: 'A1B2-C3D4-E5F6' }])(
    'that is given is not asked for: %j',
    async (input) => {
      const ran = await complete('tfa.login', input, []);
      expect(ran).toEqual({ completed: input, asked: [], said: [], calls: [] });
    },
  );

  test('that was sent already is asked for with its secret', async () => {
    const ran = await complete('tfa.login', { secret: 's' }, ['123456']);
    expect([ran.completed, ran.asked, ran.calls]).toEqual([
      { secret: 's', code: '123456' },
      ['6-digit code: '],
      [],
    ]);
  });
});

test('a secret that is required is asked for by its name, in a script nobody is asked', async () => {
  const ran = await complete('tfa.confirmAuthorization', { secret: 's' }, ['123456']);
  expect(ran).toMatchObject({ completed: { secret: 's', code: '123456' }, calls: [] });
  expect(ran.asked).toEqual([expect.stringMatching(/^code \(.+\): $/)]);
  expect((await complete('templates.create', { name: 'a' }, [])).asked).toEqual([]);
  expect(await complete('tfa.login', { admin: true })).toMatchObject({
    completed: { admin: true },
    calls: [],
  });
});
