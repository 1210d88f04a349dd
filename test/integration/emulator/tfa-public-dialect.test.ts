/** 2FA as the public service's own clients speak it (src/contract/README.md). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { UnauthorizedError } from '../../../src/client/errors.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { createTailFetcher } from '../../../src/logs/follow/pipeline.ts';
import { pilotlight } from '../../support/console.ts';
import { NOON, TFA_SEED } from '../../support/two-factor.ts';
import { ask } from '../../support/public-client.ts';

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ dialect: 'public', seed: TFA_SEED, clock: { frozenAtMs: NOON } });
});
afterEach(() => emulator.close());

const send = (method: string, path: string, body?: unknown, key = 'dev') =>
  ask(emulator, [method, `/api/v0/tfa/${path}`], body, key);

test('a method id may be text, null is unset, and unknown fields are passed over', async () => {
  const proof = {
    tfa_method: 'totp',
    tfa_method_id: '1',
    code: emulator.totp(1),
    backup_code: null,
    sms: false,
  };
  expect(await send('POST', '', proof)).toMatchObject({
    status: 200,
    body: { session_key: expect.any(String) as string },
  });
  expect(await send('DELETE', '', { ...proof, target_id: '2' })).toMatchObject({
    body: { success: true, remaining_methods: 1 },
  });
});

test('an expired session is a 404 in its own words', async () => {
  const { body } = await send('POST', '', { tfa_method: 'totp', code: emulator.totp(1) });
  await emulator.clock.advance(86_400_000);
  expect(await send('GET', 'status/', undefined, String(body['session_key']))).toMatchObject({
    status: 404,
    body: { success: false, error: 'auth_error', msg: 'Session expired. Please log in again.' },
  });
});

test('an expired session is a bare sentence with status 200 for a log, which is a matter of the key and no log line', async () => {
  const { body } = await send('POST', '', { tfa_method: 'totp', code: emulator.totp(1) });
  const session = String(body['session_key']);
  await using client = createClient({ baseUrl: emulator.url, apiKey: session });
  const fetchTail = createTailFetcher(client);
  const { signal } = new AbortController();
  const request = { source: { kind: 'workergroup', id: 7 }, tail: 5, everyMs: 1_000, signal } as const;
  await expect(fetchTail(request)).resolves.toMatchObject({ kind: 'levels' });

  await emulator.clock.advance(86_400_000);
  const answer = await fetch(`${emulator.url}/get_workergroup_logs/`, {
    method: 'POST',
    body: JSON.stringify({ id: 7, tail: 5, api_key: session }),
  });
  expect([answer.status, await answer.json()]).toEqual([200, 'Session expired. Please log in again.']);
  await expect(client.workergroups.logs({ id: 7, tail: 5 })).rejects.toBeInstanceOf(UnauthorizedError);
  await expect(fetchTail(request)).resolves.toMatchObject({ kind: 'error' });
  const env = { API_KEY: session, BASE_URL: emulator.url };
  expect(await pilotlight(['worker-group', 'logs', '7', '--tail', '5'], { env })).toMatchObject({
    code: 4,
    stdout: '',
  });
});
