/** What a client makes of answers that are not quite as documented, from the bytes of a real server on. */
import { afterAll, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { CallError } from '../../../src/client/errors.ts';
import { addTotp, login, regenerateBackupCodes, removeMethod } from '../../../src/client/flows/tfa.ts';
import { pilotlight } from '../../support/console.ts';
import { serve } from '../../support/local-server.ts';

/** `POST /path` → the body of its answer. */
let answers: Readonly<Record<string, string>> = {};
const requests: { readonly call: string; readonly key: string | undefined }[] = [];
let status = 200;
const server = await serve((request, response) => {
  request.resume();
  const call = `${request.method} ${request.url}`;
  requests.push({ call, key: request.headers.authorization });
  const body = answers[call] ?? '{"error":"not_found","msg":"no route"}';
  response.writeHead(call in answers ? status : 404).end(body);
});
const client = createClient({ baseUrl: server.url, apiKey: 'key' });
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server.close();
});

const STATUS = 'GET /api/v0/tfa/status/';
const BACKUP = { askCode: () => Promise.reject(new Error('not asked')), backupCode: 'A1B2-C3D4-E5F6' };

test('a session key comes through whatever the user beside it looks like, and is used from then on', async () => {
  answers = {
    'POST /api/v0/tfa/':
      '{"id":null,"tfa_status":"pending","email_verified_at":"never","is_admin":"no","legacy_tfa_user":0,"backup_codes_remaining":null,"session_key":"session"}',
    'GET /api/v0/users/current/': '{"id":"7","is_admin":1}',
  };
  const session = await login(client, BACKUP);
  expect(session.user).toEqual({ tfa_status: 'pending', legacy_tfa_user: false, session_key: 'session' });
  await expect(session.client.users.current()).resolves.toEqual({ id: 7, is_admin: true });
  expect(requests.at(-1)?.key).toBe('Bearer session');
});

test('a session key is used without its line break, and may be missing', async () => {
  answers = {
    'POST /api/v0/tfa/': '{"id":7,"session_key":"abc\\n"}',
    'GET /api/v0/users/current/': '{"id":7}',
  };
  const session = await login(client, BACKUP);
  expect(session.user.session_key).toBe('abc');
  await session.client.users.current();
  expect(requests.at(-1)?.key).toBe('Bearer abc');
  answers = { 'POST /api/v0/tfa/': '{"id":7,"session_key":null}' };
  await expect(login(client, BACKUP)).resolves.toEqual({ user: { id: 7 }, client });
});

test.each([
  ['{"msg":"off"}', 0],
  ['{"remaining_methods":2}', 2],
  ['{"remaining_methods":"2"}', 2],
  ['{"remaining_methods":[{"id":1}]}', 1],
  ['{"remaining_methods":null}', undefined],
  ['{"remaining_methods":"one"}', undefined],
  ['{"remaining_methods":"1 of 2"}', undefined],
])('a method is removed: %s leaves %j', async (body, remainingMethods) => {
  answers = { 'DELETE /api/v0/tfa/': body };
  await expect(removeMethod(client, { ...BACKUP, targetId: 7 })).resolves.toEqual({ remainingMethods });
});

test('backup codes come through without words, and an authenticator without its URI', async () => {
  const codes = '["AAAA-BBBB-CCCC",null,"DDDD-EEEE-FFFF"]';
  answers = {
    [STATUS]:
      '{"methods":[{"id":1,"method":"passkey"},{"id":"2","method":"totp"},null],"new_method_authorized":1}',
    'PUT /api/v0/tfa/regen-backup-codes/': `{"msg":null,"backup_codes":${codes}}`,
    'POST /api/v0/tfa/totp-setup/': '{"secret":"JBSWY3DPEHPK3PXP","provisioning_uri":null}',
    'POST /api/v0/tfa/confirm-new/': `{"success":"true","backup_codes":${codes}}`,
  };
  const read = ['AAAA-BBBB-CCCC', 'DDDD-EEEE-FFFF'];
  await expect(regenerateBackupCodes(client, BACKUP)).resolves.toEqual(read);
  const uris: string[] = [];
  const onSecret = ({ provisioningUri }: { provisioningUri: string }): void =>
    void uris.push(provisioningUri);
  await expect(addTotp(client, { ...BACKUP, onSecret, generate: true })).resolves.toEqual({
    backupCodes: read,
  });
  expect(uris).toEqual([expect.stringMatching(/^otpauth:\/\/totp\/account\?.*secret=JBSWY3DPEHPK3PXP/)]);
});

test.each([
  [200, '{"success":true,"id":3,"key":"s3cret'],
  [500, '{"success":true,"key":"s3cret"}'],
])(
  'what may be shown once, with status %i, is printed by a command, and told nowhere',
  async (code, text) => {
    status = code;
    answers = { 'POST /api/v0/auth/apikeys/': text };
    const ran = await pilotlight(['api-key', 'create', '--name', 'sidecar'], {
      env: { BASE_URL: server.url, API_KEY: 'key' },
    });
    const error = await client.apiKeys.create({ name: 'sidecar' }).catch((thrown: unknown) => thrown);
    status = 200;
    if (!(error instanceof CallError)) throw error;
    expect([error.mayBeDone, error.rawAnswer()]).toEqual([true, text]);
    expect(error.message + JSON.stringify(error) + ran.stderr).not.toContain('s3cret');
    expect(ran).toMatchObject({ code: 1, stdout: `${text}\n` });
  },
);

test('a page in place of an answer that can be asked for again is not printed', async () => {
  answers = { 'GET /api/v0/instances/': '<html>gateway</html>' };
  const ran = await pilotlight(['instance', 'list'], { env: { BASE_URL: server.url, API_KEY: 'key' } });
  expect(ran).toMatchObject({ code: 1, stdout: '' });
});
