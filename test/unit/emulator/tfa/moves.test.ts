/** The moves of §3 by which an account gets, keeps and loses its second factors. */
import { describe, expect, test } from 'vitest';
import { BACKUP_CODE } from '../../../../src/contract/operations/tfa/tfa.ts';
import {
  BACKUP_CODES,
  createLab,
  DEV_PHONE,
  LEGACY_PHONE,
  NEW_PHONE,
  WINDOW_MS,
  type Lab,
} from '../../../support/two-factor.ts';

function byApp(lab: Lab) {
  return { tfa_method: 'totp', code: lab.totp(1) };
}

/** Adds an authenticator through the open window; returns the answer. */
function addApp(lab: Lab, key = 'fresh') {
  const { secret } = lab.ok('tfa.setupTotp', {}, key) as { secret: string };
  const proof = { tfa_method: 'totp', secret, code: lab.totp(secret), label: 'app' };
  return lab.call('tfa.confirmNew', proof, key);
}

const AUTHORIZED = { success: true, msg: 'Authorization successful.' };

describe('add-method authorization', () => {
  test.each(['email', 'sms', 'totp'])('by %s opens the window for 30 minutes', (tfa_method) => {
    const lab = createLab();
    const { secret } = lab.ok('tfa.authorizeNewMethod', { tfa_method }) as { secret: string };
    const code = tfa_method === 'totp' ? lab.totp(1) : lab.outbox.latest().code;
    const proof = { secret, code };
    expect(lab.ok('tfa.status')).toMatchObject({ new_method_authorized: false });
    expect(lab.ok('tfa.confirmAuthorization', proof)).toEqual(AUTHORIZED);
    lab.advance(WINDOW_MS - 1);
    expect(lab.ok('tfa.status')).toMatchObject({ new_method_authorized: true });
    lab.advance(1);
    expect(lab.ok('tfa.status')).toMatchObject({ new_method_authorized: false });
    expect(lab.error('tfa.confirmAuthorization', proof)).toBe('no_pending_authorization');
  });

  test('by backup code opens it at once', () => {
    const lab = createLab();
    const answer = lab.ok('tfa.authorizeNewMethod', { backup_code: BACKUP_CODES[0] });
    expect(answer).toEqual(AUTHORIZED);
    expect(lab.ok('tfa.status')).toMatchObject({ new_method_authorized: true, backup_codes_remaining: 2 });
  });

  test('of a user without methods is forced to e-mail, whatever is asked for', () => {
    const lab = createLab();
    for (const input of [{}, { tfa_method: 'totp' }, { tfa_method: 'sms', tfa_method_id: 5 }]) {
      lab.ok('tfa.authorizeNewMethod', input, 'fresh');
      expect(lab.outbox.latest()).toMatchObject({ userId: 2, channel: 'email' });
    }
    expect(lab.outbox.messages()).toHaveLength(3);
  });

  test('by authenticator or backup code needs no verified e-mail address', () => {
    const lab = createLab();
    const { secret } = lab.ok('tfa.authorizeNewMethod', { tfa_method: 'totp' }, 'unverified');
    lab.ok('tfa.confirmAuthorization', { secret, code: lab.totp(31) }, 'unverified');
    lab.ok('tfa.authorizeNewMethod', { backup_code: BACKUP_CODES[0] }, 'unverified');
  });

  test('that is begun anew takes the place of the one before', () => {
    const lab = createLab();
    const first = lab.sent('tfa.authorizeNewMethod', { tfa_method: 'email' });
    const second = lab.sent('tfa.authorizeNewMethod', { tfa_method: 'email' });
    expect(lab.error('tfa.confirmAuthorization', first)).toBe('challenge_not_found');
    lab.ok('tfa.confirmAuthorization', second);
  });

  test('proves nothing elsewhere', () => {
    const lab = createLab();
    const proof = lab.sent('tfa.authorizeNewMethod', { tfa_method: 'sms' });
    expect(lab.error('tfa.login', { tfa_method: 'sms', ...proof })).toBe('challenge_not_found');
  });

  test('by SMS is sent again to a key alone, under a new secret, and is confirmed with that', () => {
    const lab = createLab();
    const first = lab.sent('tfa.authorizeNewMethod', { tfa_method: 'sms' });
    const again = lab.sent('tfa.resendSms');
    const mixed = { ...again, secret: first.secret };
    expect(lab.error('tfa.confirmAuthorization', mixed)).toBe('challenge_not_found');
    lab.ok('tfa.confirmAuthorization', again);
  });
});

describe('the list of methods', () => {
  test('grows by an authenticator; the first method comes with 10 backup codes, shown once', () => {
    const lab = createLab();
    lab.authorize('fresh');
    const { body } = addApp(lab);
    expect(body).toEqual({ success: true, msg: 'TOTP 2FA method added', backup_codes: expect.any(Array) });
    expect(new Set(body.backup_codes).size).toBe(10);
    for (const code of body.backup_codes) expect(code).toMatch(BACKUP_CODE);
    const status = lab.ok('tfa.status', {}, 'fresh');
    expect(status).toMatchObject({ tfa_enabled: true, backup_codes_remaining: 10 });
    expect(status.methods).toMatchObject([
      { user_id: 2, method: 'totp', label: 'app', is_primary: true, fail_count: 0, locked_until: null },
    ]);
    expect(JSON.stringify(status)).not.toContain(body.backup_codes[0]);
    const user = lab.send('GET', '/api/v0/users/current/', '', 'fresh');
    expect(user.body).toMatchObject({ tfa_status: 'enabled' });
  });

  test('grows by a phone number, shown masked; a second method comes without backup codes', () => {
    const lab = createLab();
    lab.authorize('fresh');
    addApp(lab);
    const proof = lab.sent('tfa.sendSms', { phone_number: NEW_PHONE }, 'fresh');
    const input = { tfa_method: 'sms', phone_number: NEW_PHONE, ...proof };
    expect(lab.ok('tfa.confirmNew', input, 'fresh')).toEqual({ success: true, msg: 'SMS 2FA method added' });
    expect(lab.ok('tfa.status', {}, 'fresh').methods).toMatchObject([
      { method: 'totp', is_primary: true },
      { method: 'sms', is_primary: false, phone_number: '+*******9999' },
    ]);
    expect(lab.error('tfa.confirmNew', input, 'fresh')).toBe('duplicate_tfa_method');
  });

  test('takes several of one type where the setting says so, but none twice', () => {
    const lab = createLab({ methodsPerType: 2 });
    lab.authorize('dev');
    expect(addApp(lab, 'dev').status).toBe(200);
    const again = { tfa_method: 'sms', phone_number: DEV_PHONE, ...lab.sent('tfa.sendSms') };
    expect(lab.error('tfa.confirmNew', again)).toBe('duplicate_tfa_method');
    expect(lab.error('tfa.login', byApp(lab))).toBe('bad_request');
    lab.ok('tfa.login', { tfa_method_id: 1, code: lab.totp(1) });
  });

  test('has one primary method, which can be another', () => {
    const lab = createLab();
    const { method } = lab.ok('tfa.update', { tfa_method: 'sms', label: 'work', is_primary: true });
    expect(method).toMatchObject({ id: 2, label: 'work', is_primary: true });
    const { methods } = lab.ok('tfa.status');
    expect(methods.map((one: { is_primary: boolean }) => one.is_primary)).toEqual([false, true]);
  });

  test('shrinks by the method that verified, and with the last one 2FA ends', () => {
    const lab = createLab();
    const proof = { tfa_method: 'sms', ...lab.sent('tfa.sendSms') };
    expect(lab.ok('tfa.remove', proof)).toEqual({ msg: '2FA method removed', remaining_methods: 1 });
    expect(lab.ok('tfa.status').methods).toMatchObject([{ id: 1 }]);
    expect(lab.ok('tfa.remove', byApp(lab))).toEqual({ msg: '2FA Successfully Disabled' });
    const none = { tfa_enabled: false, methods: [], backup_codes_remaining: 0 };
    expect(lab.ok('tfa.status')).toMatchObject(none);
    expect(lab.error('tfa.authorizeNewMethod', { backup_code: BACKUP_CODES[2] })).toBe('invalid_backup_code');
  });

  test('shrinks by a named method; with a backup code or e-mail it has to be named', () => {
    const lab = createLab();
    const byCode = { backup_code: BACKUP_CODES[0] };
    expect(lab.call('tfa.remove', byCode)).toMatchObject({ status: 400, body: { error: 'bad_request' } });
    expect(lab.call('tfa.remove', { ...byCode, target_id: 30 })).toMatchObject({ status: 404 });
    expect(lab.ok('tfa.remove', { ...byCode, target_id: 1 })).toMatchObject({ remaining_methods: 1 });
    expect(lab.ok('tfa.status')).toMatchObject({
      backup_codes_remaining: 2,
      methods: [{ id: 2, is_primary: true }],
    });
    const byEmail = { tfa_method: 'email', ...lab.sent('tfa.sendEmail') };
    expect(lab.error('tfa.remove', byEmail)).toBe('bad_request');
    expect(lab.ok('tfa.remove', { ...byEmail, target_id: 2 })).toEqual({ msg: '2FA Successfully Disabled' });
  });
});

describe('backup codes', () => {
  test('are named after one was used, as long as any remain', () => {
    const lab = createLab();
    const left = BACKUP_CODES.map(
      (code) => lab.ok('tfa.login', { backup_code: code }).backup_codes_remaining as unknown,
    );
    expect(left).toEqual([2, 1, undefined]);
    expect(lab.ok('tfa.login', byApp(lab))).not.toHaveProperty('backup_codes_remaining');
  });

  test('are replaced by a fresh set of 10', () => {
    const lab = createLab();
    const { backup_codes } = lab.ok('tfa.regenerateBackupCodes', { backup_code: BACKUP_CODES[0] });
    expect(backup_codes).toHaveLength(10);
    for (const code of BACKUP_CODES) expect(lab.call('tfa.login', { backup_code: code }).status).toBe(401);
    lab.ok('tfa.login', { backup_code: backup_codes[9] });
    expect(lab.ok('tfa.status').methods).toHaveLength(2);
  });
});

describe('a legacy account', () => {
  const proof = (lab: Lab) => ({ tfa_method: 'sms', ...lab.sent('tfa.sendSms', {}, 'legacy') });

  test('has 2FA without methods, and logs in by the number on file', () => {
    const lab = createLab();
    expect(lab.ok('tfa.status', {}, 'legacy')).toMatchObject({ tfa_enabled: true, methods: [] });
    const user = lab.ok('tfa.login', proof(lab), 'legacy');
    expect(user).toMatchObject({ tfa_status: 'legacy', legacy_tfa_user: true });
    expect(lab.outbox.latest()).toMatchObject({ to: LEGACY_PHONE });
    expect(lab.ok('tfa.login', byApp(lab))).not.toHaveProperty('legacy_tfa_user');
  });

  test('becomes a tracked one when it regenerates its backup codes', () => {
    const lab = createLab();
    expect(lab.ok('tfa.regenerateBackupCodes', proof(lab), 'legacy').backup_codes).toHaveLength(10);
    expect(lab.ok('tfa.status', {}, 'legacy')).toMatchObject({
      backup_codes_remaining: 10,
      methods: [{ method: 'sms', phone_number: '+*******0004', is_primary: true }],
    });
    expect(lab.ok('tfa.login', proof(lab), 'legacy')).toMatchObject({ tfa_status: 'enabled' });
  });

  test('loses 2FA by a removal', () => {
    const lab = createLab();
    expect(lab.ok('tfa.remove', proof(lab), 'legacy')).toEqual({ msg: '2FA Successfully Disabled' });
    expect(lab.ok('tfa.status', {}, 'legacy')).toMatchObject({ tfa_enabled: false });
  });
});
