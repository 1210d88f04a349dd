/** The fields that go with each proof, over a transport that answers as a test says. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../../src/client/client.ts';
import { RequestError } from '../../../../src/client/errors.ts';
import { addSms, addTotp, login, removeMethod } from '../../../../src/client/flows/tfa.ts';
import { totpCode, type CodePrompt, type ProofOptions } from '../../../../src/client/flows/tfa-proof.ts';
import { answer, AnsweringTransport } from '../../../support/answering-transport.ts';

const SECRET = 'JBSWY3DPEHPK3PXP';
const METHODS = [
  { id: 1, method: 'sms', phone_number: '+1***67' },
  { id: 2, method: 'totp', label: 'phone', is_primary: true },
  { id: 3, method: 'sms', label: 'second', is_primary: true },
  { id: 4, method: 'passkey' },
];

interface World {
  readonly methods?: readonly unknown[];
  readonly authorized?: boolean;
  /** By path. */
  readonly answers?: Readonly<Record<string, unknown>>;
}

async function run(
  flow: (client: ReturnType<typeof createClient>, options: ProofOptions) => Promise<unknown>,
  { methods = METHODS, authorized = false, answers = {} }: World = {},
  options: Partial<ProofOptions> = {},
) {
  const prompts: Omit<CodePrompt, 'resend'>[] = [];
  const transport = new AnsweringTransport(({ url }) => {
    const path = new URL(url).pathname.replace('/api/v0/tfa/', '');
    const known: Readonly<Record<string, unknown>> = {
      'status/': { methods, new_method_authorized: authorized },
      'sms/': { secret: 'sent', msg: 'sent by sms' },
      'sms/resend/': { secret: 'again' },
      'email/': { secret: 'mailed' },
      'totp-setup/': { secret: SECRET },
      'authorize-new-method/': { secret: 'opened' },
      ...answers,
    };
    const said = known[path] ?? {};
    return answer(typeof said === 'object' && said !== null && 'error' in said ? 400 : 200, said);
  });
  const client = createClient({ baseUrl: 'http://a.test', apiKey: 'key', transport });
  const outcome = await flow(client, {
    askCode: ({ resend: _resend, ...prompt }) => {
      prompts.push(prompt);
      return Promise.resolve('123456');
    },
    ...options,
  }).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  const calls = transport.calls.map((call) => call.replace('/api/v0/tfa/', ''));
  return { ...outcome, prompts, sent: transport.sent, calls };
}

describe('a login', () => {
  test.each<[string, Partial<ProofOptions>, readonly string[], unknown, unknown]>([
    [
      'by the primary method',
      {},
      ['GET status/', 'POST '],
      { method: 'totp', hint: 'phone', said: undefined },
      { tfa_method: 'totp', code: '123456', tfa_method_id: 2 },
    ],
    [
      'by the primary one of its kind',
      { method: 'sms' },
      ['GET status/', 'POST sms/', 'POST '],
      { method: 'sms', hint: 'second', said: 'sent by sms' },
      { tfa_method: 'sms', code: '123456', secret: 'sent', tfa_method_id: 3 },
    ],
    [
      'by the one that is named',
      { methodId: 1 },
      ['GET status/', 'POST sms/', 'POST '],
      { method: 'sms', hint: '+1***67', said: 'sent by sms' },
      { tfa_method: 'sms', code: '123456', secret: 'sent', tfa_method_id: 1 },
    ],
    [
      'by e-mail',
      { method: 'email' },
      ['GET status/', 'POST email/', 'POST '],
      { method: 'email', hint: undefined, said: undefined },
      { tfa_method: 'email', code: '123456', secret: 'mailed' },
    ],
    [
      'by one that is not there',
      { method: 'totp', methodId: 9 },
      ['GET status/', 'POST '],
      { method: 'totp', hint: undefined, said: undefined },
      { tfa_method: 'totp', code: '123456', tfa_method_id: 9 },
    ],
    [
      'by one whose id alone is known, and is not there',
      { methodId: 4 },
      ['GET status/', 'POST email/', 'POST '],
      { method: 'email', hint: undefined, said: undefined },
      { tfa_method: 'email', code: '123456', secret: 'mailed' },
    ],
  ])('%s', async (_, options, calls, prompt, sent) => {
    const ran = await run(login, {}, options);
    expect(ran.error).toBeUndefined();
    expect(ran.calls).toEqual(calls);
    expect(ran.prompts).toEqual([prompt]);
    expect(ran.sent.at(-1)).toEqual(sent);
  });

  test('by a computed code asks nobody', async () => {
    const ran = await run(login, {}, { totpSecret: SECRET, now: () => 59_000 });
    expect([ran.prompts, ran.sent.at(-1)]).toEqual([
      [],
      { tfa_method: 'totp', code: totpCode(SECRET, 59_000), tfa_method_id: 2 },
    ]);
  });

  test.each<[string, Partial<ProofOptions>, readonly string[], unknown]>([
    [
      'sms, where nothing is said',
      {},
      ['POST sms/', 'POST '],
      { tfa_method: 'sms', code: '123456', secret: 'sent' },
    ],
    [
      'the method that is named',
      { method: 'email' },
      ['POST email/', 'POST '],
      { tfa_method: 'email', code: '123456', secret: 'mailed' },
    ],
    [
      'the authenticator whose secret is known',
      { totpSecret: SECRET, now: () => 0 },
      ['POST '],
      { tfa_method: 'totp', code: totpCode(SECRET, 0), secret: 'of a password' },
    ],
    [
      'a backup code',
      { backupCode: 'A1B2-C3D4-E5F6' },
      ['POST '],
      { backup_code: 'A1B2-C3D4-E5F6', secret: 'of a password' },
    ],
  ])('by the secret of a password goes by %s', async (_, options, calls, sent) => {
    const ran = await run(
      (client, given) => login(client, { ...given, secret: 'of a password' }),
      {},
      options,
    );
    expect([ran.calls, ran.sent.at(-1)]).toEqual([calls, sent]);
    if (calls.length > 1) expect(ran.sent[0]).toEqual({ secret: 'of a password' });
  });

  test('says whether it is an admin’s where that is said', async () => {
    const ran = await run((client, given) => login(client, { ...given, admin: false }));
    expect(ran.sent.at(-1)).toMatchObject({ admin: false });
  });

  test('whose code is on its way already has it sent once more; another refusal ends it', async () => {
    const exists = { error: 'tfa_challenge_exists', msg: 'wait' };
    const again = await run(login, { answers: { 'sms/': exists } }, { methodId: 1 });
    expect(again.calls).toEqual(['GET status/', 'POST sms/', 'POST sms/resend/', 'POST ']);
    expect(again.sent[2]).toEqual({ tfa_method_id: 1 });
    expect(again.sent.at(-1)).toMatchObject({ secret: 'again' });
    const refused = { error: 'sms_failed', msg: 'no' };
    const ended = await run(login, { answers: { 'sms/': refused } }, { methodId: 1 });
    expect(ended.error).toMatchObject({ errorCode: 'sms_failed' });
    expect(ended.calls).toHaveLength(2);
  });
});

describe('a method', () => {
  test('is removed by a backup code, with the target that it needs', async () => {
    const given = { backupCode: 'A1B2-C3D4-E5F6' };
    const ran = await run((client, proof) => removeMethod(client, { ...proof, targetId: 7 }), {}, given);
    expect([ran.error, ran.sent]).toEqual([undefined, [{ backup_code: 'A1B2-C3D4-E5F6', target_id: 7 }]]);
    const without = await run((client, proof) => removeMethod(client, proof), {}, given);
    expect([without.error, without.sent]).toEqual([expect.any(RequestError), []]);
  });

  test('is added at once where the window is open', async () => {
    const add = (client: Parameters<typeof addSms>[0], given: ProofOptions) =>
      addSms(client, { ...given, phoneNumber: '+15551234567', label: 'mine' });
    const ran = await run(add, {
      authorized: true,
      answers: { 'confirm-new/': { backup_codes: ['AAAA-BBBB-CCCC'] } },
    });
    expect(ran.value).toEqual({ backupCodes: ['AAAA-BBBB-CCCC'] });
    expect(ran.calls).toEqual(['GET status/', 'POST sms/', 'POST confirm-new/']);
    expect(ran.prompts).toEqual([{ method: 'sms', hint: '+15551234567', said: 'sent by sms' }]);
    expect(ran.sent.slice(1)).toEqual([
      { phone_number: '+15551234567' },
      { tfa_method: 'sms', code: '123456', secret: 'sent', phone_number: '+15551234567', label: 'mine' },
    ]);
  });

  const addAuthenticator = (client: Parameters<typeof addTotp>[0], given: ProofOptions) =>
    addTotp(client, { ...given, onSecret() {}, label: 'new' });

  test('is added through a window that e-mail opens where there is no other method', async () => {
    const ran = await run(addAuthenticator, { methods: [] }, { totpSecret: SECRET });
    expect(ran.calls).toEqual([
      'GET status/',
      'POST authorize-new-method/',
      'PUT authorize-new-method/',
      'POST totp-setup/',
      'POST confirm-new/',
    ]);
    expect(ran.sent.slice(1, 3)).toEqual([{ tfa_method: 'email' }, { code: '123456', secret: 'opened' }]);
    expect(ran.prompts).toEqual([
      { method: 'email', hint: undefined, said: undefined },
      { method: 'totp', hint: 'new', said: undefined },
    ]);
    expect(ran.sent.at(-1)).toEqual({ tfa_method: 'totp', code: '123456', secret: SECRET, label: 'new' });
  });

  test.each([
    ['sms', true],
    ['totp', false],
  ] as const)('whose window a code by %s opens, which can be sent again: %s', async (method, isSent) => {
    const asked: (string | undefined)[] = [];
    const { calls, sent } = await run(
      (client, options) => addTotp(client, { ...options, onSecret: () => {}, generate: true }),
      {},
      {
        method,
        async askCode({ resend }) {
          asked.push(typeof resend);
          await resend?.();
          return '123456';
        },
      },
    );
    expect(asked).toEqual([isSent ? 'function' : 'undefined']);
    expect(calls.filter((call) => call === 'POST authorize-new-method/')).toHaveLength(isSent ? 2 : 1);
    expect(sent).toContainEqual({ code: '123456', secret: 'opened' });
  });

  test('is added through a window that the method that is named opens', async () => {
    const ran = await run(addAuthenticator, {}, { methodId: 1 });
    expect(ran.sent).toContainEqual({ tfa_method: 'sms', tfa_method_id: 1 });
  });
});
