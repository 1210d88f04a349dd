import { afterEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { RequestError } from '../../../src/client/errors.ts';
import {
  addSms,
  addTotp,
  login,
  regenerateBackupCodes,
  removeMethod,
  type AskCode,
} from '../../../src/client/flows/tfa.ts';
import { BACKUP_CODE } from '../../../src/contract/operations/tfa/tfa.ts';
import { startEmulator, type Emulator, type Seed } from '../../../src/emulator/index.ts';

const PHONE = '+15551234567';
function userWith(more: object): Seed {
  const api_keys = [{ name: 'default', key: 'emulator-key' }];
  return { users: [{ id: 1, email: 'dev@example.com', tfa_methods: [], api_keys, ...more }] };
}

const SMS_METHOD = { id: 1, method: 'sms' as const, phone_number: PHONE, is_primary: true };
const SMS_USER = userWith({ tfa_methods: [SMS_METHOD], backup_codes_remaining: 10 });
const NEW_USER = userWith({});

let emulator: Emulator;
let client: Client;
/** A person who reads the code where it was sent. */
const person: AskCode = async ({ method }) =>
  emulator.outbox.latest({ channel: method === 'sms' ? 'sms' : 'email' }).code;
const nobody: AskCode = () => Promise.reject(new Error('nobody should be asked'));

async function begin(seed: Seed = {}): Promise<void> {
  emulator = await startEmulator({ seed, clock: 'frozen' });
  client = createClient({
    baseUrl: emulator.url,
    apiKey: 'emulator-key',
    retry: { attempts: 1, baseMs: 0, maxMs: 0 },
  });
}
const now = () => emulator.clock.now();
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await emulator.close();
});

describe('adding and removing methods', () => {
  test('the first method: authorized by e-mail, ten backup codes, shown once', async () => {
    await begin(NEW_USER);
    let secret = '';
    const { backupCodes } = await addTotp(client, {
      askCode: person,
      generate: true,
      label: 'phone app',
      now,
      onSecret(setup) {
        secret = setup.secret;
        expect(setup.provisioningUri).toMatch(/^otpauth:\/\/totp\//);
      },
    });
    expect(backupCodes).toHaveLength(10);
    for (const code of backupCodes ?? []) expect(code).toMatch(BACKUP_CODE);
    expect(await client.tfa.status()).toMatchObject({
      tfa_enabled: true,
      backup_codes_remaining: 10,
      methods: [{ method: 'totp', label: 'phone app' }],
    });
    await emulator.clock.advance(30_000);
    await login(client, { askCode: nobody, totpSecret: secret, now });
  });

  test('a backup code opens the window too', async () => {
    await begin();
    const [backupCode = ''] = emulator.tfa.backupCodes();
    await addSms(client, { phoneNumber: PHONE, backupCode, askCode: person });
    expect((await client.tfa.status()).methods).toHaveLength(2);
  });
});

test.each<[string, (options: { askCode: AskCode }) => Promise<unknown>, readonly string[]]>([
  [
    'login',
    () => login(client, { totpSecret: '01!!', admin: 'yes' } as never),
    ['askCode', 'totpSecret', 'admin'],
  ],
  ['addTotp', (options) => addTotp(client, options as never), ['onSecret']],
  ['addSms', (options) => addSms(client, { ...options, phoneNumber: '555' }), ['phoneNumber']],
  ['removeMethod', (options) => removeMethod(client, { ...options, targetId: -1 }), ['targetId']],
  [
    'regenerateBackupCodes',
    (options) => regenerateBackupCodes(client, { ...options, method: 'pigeon' } as never),
    ['method'],
  ],
])('%s: bad options are refused together, before anything is sent', async (_, flow, fields) => {
  await begin(SMS_USER);
  const error = await flow({ askCode: nobody }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RequestError);
  expect((error as RequestError).problems.map(({ field }) => field)).toEqual(fields);
  expect(emulator.journal.entries({})).toEqual([]);
});
