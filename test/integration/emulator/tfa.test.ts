/** 2FA as a client meets it: over sockets, with the project's own client, the outbox and the admin API. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { BACKUP_CODES, MINUTE, NEW_PHONE, NOON, TFA_SEED } from '../../support/two-factor.ts';
import { ask } from '../../support/public-client.ts';

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ seed: TFA_SEED, clock: { frozenAtMs: NOON } });
});
afterEach(() => emulator.close());

const clientOf = (apiKey: string) => createClient({ baseUrl: emulator.url, apiKey });

const send = (method: string, path: string, body?: unknown, key = '') =>
  ask(emulator, [method, path], body, key);

describe('the outbox', () => {
  test('shows every code that was sent, again and again, and uses none up', async () => {
    await using client = clientOf('dev');
    const { tfa } = client;
    const { secret } = await tfa.sendEmail({});
    await emulator.clock.advance(1_000);
    await tfa.sendSms({ phone_number: NEW_PHONE });
    const expected = [
      { seq: 1, channel: 'email', to: 'someone@example.com', userId: 1, atMs: NOON },
      { seq: 2, channel: 'sms', to: NEW_PHONE, expiresAtMs: NOON + 1_000 + 10 * MINUTE },
    ];
    for (let look = 0; look < 2; look += 1) {
      const { body } = await send('GET', '/_emulator/outbox');
      expect(body['messages']).toMatchObject(expected);
      expect(emulator.outbox.messages()).toEqual(body['messages']);
    }
    const { body } = await send('GET', `/_emulator/outbox?channel=sms&to=${encodeURIComponent(NEW_PHONE)}`);
    expect(body['messages']).toMatchObject([{ seq: 2 }]);
    const { code } = emulator.outbox.latest({ channel: 'email' });
    await send('DELETE', '/_emulator/outbox');
    expect(() => emulator.outbox.latest()).toThrow(RangeError);
    await tfa.login({ tfa_method: 'email', secret, code });
  });

  test('is part of a snapshot, as are challenges and locks', async () => {
    await using client = clientOf('dev');
    const { tfa } = client;
    const { secret } = await tfa.sendEmail({});
    const proof = { tfa_method: 'email', secret, code: emulator.outbox.latest().code } as const;
    const snapshot = emulator.snapshot();
    for (let round = 0; round < 2; round += 1) {
      await tfa.login(proof);
      emulator.restore(snapshot);
      expect(emulator.outbox.messages()).toHaveLength(1);
    }
    await emulator.reset();
    expect(emulator.outbox.messages()).toEqual([]);
  });
});

test('neither journal nor state of the emulator shows a secret, a code or a session', async () => {
  await using client = clientOf('dev');
  const { tfa } = client;
  const { secret } = await tfa.sendEmail({});
  const { code } = emulator.outbox.latest();
  const { session_key: session = '' } = await tfa.login({ tfa_method: 'email', secret, code });
  await tfa.authorizeNewMethod({ backup_code: BACKUP_CODES[0] });
  await using inside = clientOf(session);
  await inside.tfa.status();
  await send('GET', `/api/v0/${session}?secret=${secret}`, undefined, session);
  const login = emulator.tfa.startLogin(1).tfa_secret;
  await send('POST', '/api/v0/tfa/email/', { secret: login });
  const state = await send('GET', '/_emulator/state');
  const shown = JSON.stringify([emulator.journal.entries(), state.body, emulator.tfa.sessions()]);
  for (const hidden of [secret, code, session, login, ...BACKUP_CODES]) expect(shown).not.toContain(hidden);
  expect(emulator.journal.entries({ operation: 'tfa.status' })).toMatchObject([{ key: 'session of dev' }]);
});
