import { afterEach, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { addSms, addTotp, login, type AskCode } from '../../../src/client/flows/tfa.ts';
import { BACKUP_CODE } from '../../../src/contract/operations/tfa/tfa.ts';
import { startEmulator, type Emulator, type Seed } from '../../../src/emulator/index.ts';

const API_KEYS = [{ name: 'default', key: 'emulator-key' }];
const NEW_USER = { users: [{ id: 1, email: 'dev@example.com', tfa_methods: [], api_keys: API_KEYS }] };

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
  await addSms(client, { phoneNumber: '+15551234567', backupCode, askCode: person });
  expect((await client.tfa.status()).methods).toHaveLength(2);
});
