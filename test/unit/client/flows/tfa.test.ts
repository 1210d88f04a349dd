/** The fields that go with each proof, over a transport that answers as a test says. */
import { describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../../src/client/client.ts';
import { RequestError } from '../../../../src/client/errors.ts';
import {
  addSms,
  addTotp,
  login,
  regenerateBackupCodes,
  removeMethod,
  totpCode,
  type CodePrompt,
  type ProofOptions,
} from '../../../../src/client/flows/tfa.ts';
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
  flow: (client: Client, options: ProofOptions) => Promise<unknown>,
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
  const client = transport.client();
  const { signal } = new AbortController();
  const listeners = vi.spyOn(signal, 'addEventListener');
  const outcome = await flow(client, {
    signal,
    askCode: ({ resend: _resend, ...prompt }) => {
      prompts.push(prompt);
      return Promise.resolve('123456');
    },
    ...options,
  }).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  // An abort ends each of the calls.
  expect(listeners).toHaveBeenCalledTimes(transport.asked.length);
  const calls = transport.calls.map((call) => call.replace('/api/v0/tfa/', ''));
  return { ...outcome, prompts, sent: transport.sent, calls };
}

describe('a login', () => {
  test.each<[string, Partial<ProofOptions>, string, string | undefined, object]>([
    ['the primary method', {}, 'totp', 'phone', { tfa_method_id: 2 }],
    ['the primary one of its kind', { method: 'sms' }, 'sms', 'second', { secret: 'sent', tfa_method_id: 3 }],
    ['the one that is named', { methodId: 1 }, 'sms', '+1***67', { secret: 'sent', tfa_method_id: 1 }],
    ['e-mail', { method: 'email' }, 'email', undefined, { secret: 'mailed' }],
    ['one that is not there', { method: 'totp', methodId: 9 }, 'totp', undefined, { tfa_method_id: 9 }],
    ['e-mail, if an id is not there', { methodId: 4 }, 'email', undefined, { secret: 'mailed' }],
  ])('by %s', async (_, options, method, hint, sent) => {
    const ran = await run(login, {}, options);
    expect(ran.error).toBeUndefined();
    const sending = method === 'totp' ? [] : [`POST ${method}/`];
    expect(ran.calls).toEqual(['GET status/', ...sending, 'POST ']);
    expect(ran.prompts).toEqual([{ method, hint, said: method === 'sms' ? 'sent by sms' : undefined }]);
    expect(ran.sent.at(-1)).toEqual({ tfa_method: method, code: '123456', ...sent });
  });

  test('whose code was sent once more has the secret of the new one', async () => {
    const askCode: ProofOptions['askCode'] = async ({ resend }) => {
      await resend?.();
      return '123456';
    };
    const ran = await run(login, {}, { methodId: 1, askCode });
    expect(ran.sent.at(-1)).toMatchObject({ tfa_method_id: 1, secret: 'again' });
  });

  test('ends with whatever askCode rejects with, and no code is sent', async () => {
    const cancelled = new Error('cancelled');
    const ran = await run(login, {}, { methodId: 2, askCode: () => Promise.reject(cancelled) });
    expect([ran.error, ran.calls]).toEqual([cancelled, ['GET status/']]);
  });

  test('by a computed code asks nobody', async () => {
    const ran = await run(login, {}, { totpSecret: SECRET, now: () => 59_000 });
    expect([ran.prompts, ran.sent.at(-1)]).toEqual([
      [],
      { tfa_method: 'totp', code: totpCode(SECRET, 59_000), tfa_method_id: 2 },
    ]);
  });

  const byPassword = { secret: 'of a password' };
  test.each<[string, Partial<ProofOptions>, string | undefined, object]>([
    ['sms, where nothing is said', {}, 'sms', { tfa_method: 'sms', code: '123456', secret: 'sent' }],
    ['e-mail', { method: 'email' }, 'email', { tfa_method: 'email', code: '123456', secret: 'mailed' }],
    [
      'the authenticator whose secret is known',
      { totpSecret: SECRET, now: () => 0 },
      undefined,
      { tfa_method: 'totp', code: totpCode(SECRET, 0), ...byPassword },
    ],
    [
      'a backup code',
      { backupCode: 'A1B2-C3D4-E5F6' },
      undefined,
      { backup_code: 'A1B2-C3D4-E5F6', ...byPassword },
    ],
  ])('by the secret of a password goes by %s', async (_, options, sender, sent) => {
    const ran = await run((client, given) => login(client, { ...given, ...byPassword }), {}, options);
    expect(ran.calls).toEqual([...(sender ? [`POST ${sender}/`] : []), 'POST ']);
    expect(ran.sent).toEqual([...(sender ? [byPassword] : []), sent]);
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

  test.each([
    ['authorize-new-method/', 'tfa.confirmAuthorization', false],
    ['sms/', 'tfa.confirmNew', true],
  ])('is not added if %s answers without a secret', async (path, operation, authorized) => {
    const add = (client: Client, given: ProofOptions) =>
      addSms(client, { ...given, phoneNumber: '+15551234567' });
    const { error } = await run(add, { authorized, answers: { [path]: {} } }, { methodId: 1 });
    expect(error).toMatchObject({ operation, problems: [{ field: 'secret' }] });
  });
});

test.each<[operation: string, flow: Parameters<typeof run>[0], fields: readonly string[]]>([
  [
    'tfa.login',
    (client, options) => login(client, { ...options, askCode: undefined, admin: 'yes' } as never),
    ['askCode', 'totpSecret', 'admin'],
  ],
  ['tfa.setupTotp', (client, options) => addTotp(client, options as never), ['totpSecret', 'onSecret']],
  [
    'tfa.sendSms',
    (client, options) => addSms(client, { ...options, phoneNumber: '555' }),
    ['totpSecret', 'phoneNumber'],
  ],
  [
    'tfa.remove',
    (client, options) => removeMethod(client, { ...options, targetId: -1 }),
    ['totpSecret', 'targetId'],
  ],
  [
    'tfa.regenerateBackupCodes',
    (client, options) => regenerateBackupCodes(client, { ...options, method: 'pigeon' } as never),
    ['totpSecret', 'method'],
  ],
])('%s: bad options are refused together, and nothing is sent', async (operation, flow, fields) => {
  const { error, calls } = await run(flow, {}, { totpSecret: '' });
  expect([error, calls]).toEqual([expect.any(RequestError), []]);
  expect(error).toMatchObject({ operation, problems: fields.map((field) => ({ field })) });
  expect(String(error)).toContain('totpSecret: must be base32');
});
