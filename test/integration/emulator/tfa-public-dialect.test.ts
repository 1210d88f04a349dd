/** 2FA as the public service's own clients speak it (src/contract/README.md). */
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { UnauthorizedError } from '../../../src/client/errors.ts';
import { createTailFetcher } from '../../../src/logs/follow/pipeline.ts';
import { pilotlight } from '../../support/console.ts';
import { startPublic } from '../../support/public-client.ts';
import { NOON, TFA_SEED } from '../../support/two-factor.ts';

test('an expired session is a 404 in its words; a log says so with status 200, as no line', async () => {
  await using service = await startPublic({ seed: TFA_SEED, clock: { frozenAtMs: NOON } });
  const { emulator, send } = service;
  const login = { tfa_method: 'totp', code: emulator.totp(1) };
  const session = String((await send('POST', '/api/v0/tfa/', login)).body['session_key']);
  await using client = createClient({ baseUrl: emulator.url, apiKey: session });
  const fetchTail = createTailFetcher(client);
  const { signal } = new AbortController();
  const request = { source: { kind: 'workergroup', id: 7 }, tail: 5, everyMs: 1_000, signal } as const;
  await expect(fetchTail(request)).resolves.toMatchObject({ kind: 'levels' });

  await emulator.clock.advance(86_400_000);
  const words = 'Session expired. Please log in again.';
  expect(await send('GET', '/api/v0/tfa/status/', undefined, session)).toMatchObject({
    status: 404,
    body: { success: false, error: 'auth_error', msg: words },
  });
  const log = await send('POST', '/get_workergroup_logs/', { id: 7, tail: 5, api_key: session }, '');
  expect([log.status, log.body]).toEqual([200, words]);
  await expect(client.workergroups.logs({ id: 7, tail: 5 })).rejects.toBeInstanceOf(UnauthorizedError);
  await expect(fetchTail(request)).resolves.toMatchObject({ kind: 'error' });
  const env = { API_KEY: session, BASE_URL: emulator.url };
  const ran = await pilotlight(['worker-group', 'logs', '7', '--tail', '5'], { env });
  expect(ran).toMatchObject({ code: 4, stdout: '' });
});
