/** Locks, challenges and logins (§3, §4.4, §5): what lets a user in, and until when. */
import { describe, expect, test } from 'vitest';
import {
  BACKUP_CODES,
  CHALLENGE_MS,
  createLab,
  DEV_PHONE,
  LOCKOUT_MS,
  MINUTE,
  NEW_PHONE,
  NOON,
  wrong,
  type Lab,
} from '../../../support/two-factor.ts';

function byApp(lab: Lab) {
  return { tfa_method: 'totp', code: lab.totp(1) };
}

describe('a lock', () => {
  test('comes when failures exceed the threshold, lasts 15 minutes, and is of that method alone', () => {
    const lab = createLab({ tfaFailuresAllowed: 2 });
    const counts = [1, 2, 3].map(() => {
      const proof = { tfa_method: 'totp', code: wrong(lab.totp(1)) };
      const { status, body } = lab.call('tfa.regenerateBackupCodes', proof);
      return [status, body.error, body.fail_count, body.locked_until] as unknown;
    });
    const until = (NOON + LOCKOUT_MS) / 1000;
    expect(counts).toEqual([
      [400, '2fa_verification_failed', 1, null],
      [400, '2fa_verification_failed', 2, null],
      [400, '2fa_verification_failed', 3, until],
    ]);
    expect(lab.ok('tfa.status').methods).toMatchObject([
      { id: 1, fail_count: 3, locked_until: until },
      { id: 2, fail_count: 0, locked_until: null },
    ]);
    lab.ok('tfa.login', { tfa_method: 'sms', ...lab.sent('tfa.sendSms') });
    lab.ok('tfa.login', { backup_code: BACKUP_CODES[0] });

    lab.advance(LOCKOUT_MS - 1);
    expect(lab.call('tfa.login', byApp(lab))).toMatchObject({ status: 429, body: { error: 'tfa_locked' } });
    lab.advance(1);
    expect(lab.ok('tfa.status').methods).toMatchObject([{ fail_count: 0, locked_until: null }, {}]);
    lab.call('tfa.login', { tfa_method: 'totp', code: wrong(lab.totp(1)) });
    expect(lab.ok('tfa.status').methods[0]).toMatchObject({ fail_count: 1, locked_until: null });
    lab.ok('tfa.login', byApp(lab));
    expect(lab.ok('tfa.status').methods).toMatchObject([{ fail_count: 0, last_used: lab.now() / 1000 }, {}]);
  });

  test('comes of codes that were sent by SMS too, and keeps the right one out', () => {
    const lab = createLab({ tfaFailuresAllowed: 1 });
    const proof = { tfa_method: 'sms', ...lab.sent('tfa.sendSms') };
    for (const fail_count of [1, 2]) {
      const refused = lab.call('tfa.regenerateBackupCodes', { ...proof, code: wrong(proof.code) });
      expect(refused.body).toMatchObject({ error: '2fa_verification_failed', fail_count });
    }
    expect(lab.call('tfa.login', proof).body).toMatchObject({ error: 'tfa_locked', fail_count: 2 });
    lab.ok('tfa.login', byApp(lab));
  });

  test('that has passed does not come back when the clock is turned back', () => {
    const lab = createLab({ tfaFailuresAllowed: 0 });
    lab.call('tfa.login', { tfa_method: 'totp', code: wrong(lab.totp(1)) });
    lab.advance(LOCKOUT_MS);
    lab.advance(-MINUTE);
    lab.ok('tfa.login', byApp(lab));
  });
});

describe('a challenge', () => {
  test('is valid for 10 minutes, to the millisecond, and once', () => {
    const lab = createLab();
    const proof = { tfa_method: 'email', ...lab.sent('tfa.sendEmail') };
    lab.advance(CHALLENGE_MS - 1);
    lab.ok('tfa.login', proof);
    expect(lab.error('tfa.login', proof)).toBe('challenge_not_found');
    const late = { tfa_method: 'email', ...lab.sent('tfa.sendEmail') };
    lab.advance(CHALLENGE_MS);
    lab.advance(-MINUTE);
    expect(lab.error('tfa.login', late)).toBe('2fa_expired');
  });

  test('is of the user that it was opened for, and of nobody else', () => {
    const lab = createLab();
    const proof = { tfa_method: 'email', ...lab.sent('tfa.sendEmail') };
    expect(lab.error('tfa.login', proof, 'broken')).toBe('challenge_not_found');
    lab.ok('tfa.login', proof);
  });

  test('by e-mail is a fresh one at every call with a key and without a secret', () => {
    const lab = createLab();
    const [first, second] = [lab.sent('tfa.sendEmail'), lab.sent('tfa.sendEmail')];
    expect(first.secret).not.toBe(second.secret);
    lab.ok('tfa.login', { tfa_method: 'email', ...first });
    const again = lab.sent('tfa.sendEmail', { secret: second.secret });
    expect(again.secret).toBe(second.secret);
    lab.ok('tfa.login', { tfa_method: 'email', ...again });
  });

  test('by SMS is sent once more with a new code, and with a key under a new secret', () => {
    const lab = createLab();
    const first = lab.sent('tfa.sendSms');
    lab.advance(9 * MINUTE);
    const second = lab.sent('tfa.resendSms', { phone_number: DEV_PHONE });
    expect(second.secret).not.toBe(first.secret);
    expect(lab.error('tfa.login', { tfa_method: 'sms', ...first })).toBe('challenge_not_found');
    lab.advance(9 * MINUTE);
    const third = lab.sent('tfa.resendSms', { secret: second.secret, tfa_method_id: 2 });
    expect(third.secret).toBe(second.secret);
    lab.ok('tfa.login', { tfa_method: 'sms', tfa_method_id: 2, ...third });
  });

  test('may be sent to an unverified admin by tfa/sms/ and tfa/sms/resend/', () => {
    const lab = createLab();
    lab.ok('tfa.sendSms', {}, 'admin');
    const proof = lab.sent('tfa.resendSms', {}, 'admin');
    lab.ok('tfa.login', { tfa_method: 'sms', ...proof, admin: true }, 'admin');
    expect(lab.tfa.sessions()).toMatchObject([{ userId: 5, admin: true }]);
  });
});

describe('a login', () => {
  test('with a key gives a session_key that is a Bearer value', () => {
    const lab = createLab();
    const { session_key, ...user } = lab.ok('tfa.login', byApp(lab));
    expect(user).toMatchObject({ id: 1, tfa_status: 'enabled', is_admin: false });
    expect(lab.ok('tfa.status', {}, session_key)).toMatchObject({ tfa_enabled: true });
    lab.advance(86_400_000 - 1);
    lab.ok('tfa.status', {}, session_key);
    lab.advance(1);
    const late = lab.call('tfa.status', {}, session_key);
    expect(late).toMatchObject({ status: 403, body: { error: 'auth_error' } });
  });

  test.each([
    ['sms', (lab: Lab, secret: string) => lab.sent('tfa.sendSms', { secret }, null)],
    ['email', (lab: Lab, secret: string) => lab.sent('tfa.sendEmail', { secret }, null)],
    ['totp', (lab: Lab, secret: string) => ({ secret, code: lab.totp(1) })],
    ['backup code', (_: Lab, secret: string) => ({ secret, backup_code: BACKUP_CODES[0] })],
  ])('that was begun with a password is completed by %s and the secret alone', (way, prove) => {
    const lab = createLab();
    const secret = lab.tfa.startLogin(1).tfa_secret;
    const proof = { ...(way === 'backup code' ? {} : { tfa_method: way }), ...prove(lab, secret) };
    expect(proof.secret).toBe(secret);
    const { status, body, headers } = lab.call('tfa.login', proof, null);
    expect({ status, body }).toMatchObject({ status: 200, body: { id: 1 } });
    expect(body).not.toHaveProperty('session_key');
    const session = /^session=(\w+);/.exec(headers['set-cookie'] ?? '')?.[1] ?? '';
    expect(lab.ok('tfa.status', {}, session)).toMatchObject({ tfa_enabled: true });
    expect(lab.error('tfa.login', proof, null)).toBe('challenge_not_found');
  });

  test('with a scoped key gives a session that may do no more', () => {
    const api_keys = [{ name: 'dev', key: 'dev', permissions: { manage_billing: true } }];
    const seed = { users: [{ id: 1, tfa_methods: [{ id: 1, method: 'totp' as const }], api_keys }] };
    const lab = createLab({}, undefined, seed);
    const { session_key } = lab.ok('tfa.login', byApp(lab));
    const beat = lab.send('POST', '/api/v0/deployment/42/heartbeat', '', session_key);
    expect(beat).toMatchObject({ status: 403, body: { error: 'forbidden' } });
  });
});

test('the deprecated paths do what those that replace them do', () => {
  const lab = createLab();
  lab.authorize('fresh');
  lab.ok('tfa.test', { phone_number: NEW_PHONE }, 'fresh');
  const proof = lab.sent('tfa.resend', { phone_number: NEW_PHONE }, 'fresh');
  const input = { tfa_method: 'sms', phone_number: NEW_PHONE, ...proof };
  expect(lab.ok('tfa.testSubmit', input, 'fresh').backup_codes).toHaveLength(10);
});

test('an authenticator code is good for its period and its neighbours', () => {
  const lab = createLab();
  const code = lab.totp(1);
  lab.advance(59_999);
  lab.ok('tfa.login', { tfa_method: 'totp', code });
  lab.ok('tfa.login', { tfa_method: 'totp', code });
  lab.advance(1);
  expect(lab.call('tfa.login', { tfa_method: 'totp', code }).status).toBe(400);
});

test.each(['tfa.login', 'tfa.regenerateBackupCodes', 'tfa.remove'] as const)(
  '%s asks which of two SMS methods a code is for',
  (id) => {
    const lab = createLab();
    const proof = { tfa_method: 'sms', ...lab.sent('tfa.sendSms', { tfa_method_id: 90 }, 'twins') };
    const asked = lab.call(id, proof, 'twins');
    expect(asked).toMatchObject({ status: 400, body: { error: 'bad_request' } });
    expect(asked.body).not.toHaveProperty('fail_count');
    lab.ok(id, { ...proof, tfa_method_id: 90 }, 'twins');
  },
);
