/**
 * Every error that the contract declares for an operation of 2FA, provoked by a state that really causes it;
 * and nothing is declared that cannot be provoked. One long table, so that its completeness can be checked.
 */
import { describe, expect, test } from 'vitest';
import { COMMON_ERRORS, ERROR_CODES, ERRORS, type ErrorCode } from '../../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../../../../src/contract/operations.ts';
import type { SettingsInput } from '../../../../src/emulator/index.ts';
import {
  CHALLENGE_MS,
  createLab,
  DEV_PHONE,
  LOCKOUT_MS,
  NEW_PHONE,
  NOON,
  WINDOW_MS,
  wrong,
  type Lab,
} from '../../../support/two-factor.ts';
import { ERROR_WORDS } from './error-words.ts';

type Fields = Readonly<Record<string, unknown>>;
/** What is sent. A function brings about the state in which it is refused. */
type Input = Fields | ((lab: Lab) => Fields);

interface Details {
  /** Default `dev`; null: none. */
  readonly key?: string | null | ((lab: Lab) => string);
  /** Where it is not the usual one of the code. */
  readonly status?: number;
  readonly settings?: SettingsInput;
  readonly fields?: Fields;
}

interface Case extends Details {
  readonly operation: OperationId;
  readonly code: ErrorCode;
  readonly input: Input;
}

const TFA_OPERATIONS = OPERATION_IDS.filter((id) => id.startsWith('tfa.'));
const cases: Case[] = [];

function add(operation: OperationId, code: ErrorCode, ...rest: [Input] | [Details, Input]): void {
  const [details, input] = rest.length === 1 ? [{}, rest[0]] : rest;
  cases.push({ operation, code, input, ...details });
}

function inputIn(lab: Lab, input: Input): Fields {
  return typeof input === 'function' ? input(lab) : input;
}

/** An input that is made before something changes. */
function madeBefore(change: (lab: Lab) => void, input: Input) {
  return (lab: Lab) => {
    const made = inputIn(lab, input);
    change(lab);
    return made;
  };
}

const expiry = (lab: Lab) => lab.advance(CHALLENGE_MS);
const storeIs = (store: 'down' | 'read only') => (lab: Lab) => lab.tfa.set({ store });

function failOften(lab: Lab): void {
  for (let time = 0; time < 6; time += 1)
    lab.call('tfa.login', { tfa_method: 'totp', code: wrong(lab.totp(1)) });
}

const by = (key: string): Details => ({ key });
const NO_KEY = { key: null, status: 401 };
const COUNTED = { fields: { fail_count: 1, locked_until: null } };
/** One wrong code more than a method stands. */
const LOCKED = { fields: { fail_count: 6, locked_until: (NOON + LOCKOUT_MS) / 1000 } };

const CODE = '123456';
const TOTP = { tfa_method: 'totp', code: CODE };
const byApp = (lab: Lab) => ({ tfa_method: 'totp', code: lab.totp(1) });
const begunLogin = (lab: Lab) => ({ secret: lab.tfa.startLogin(1).tfa_secret });

function wrongly({ secret, code }: { readonly secret: string; readonly code: string }) {
  return { secret, code: wrong(code) };
}

for (const operation of TFA_OPERATIONS) {
  const { example, verification, body } = operationOf(operation);
  add(operation, 'team_user_forbidden', by('team'), example.input);
  add(operation, 'invalid_key', by('nobody'), example.input);
  if (!verification.secretAlone) add(operation, 'missing_auth_value', NO_KEY, example.input);
  if (body) add(operation, 'bad_request', { ...example.input, unheard_of: 1 });
}

for (const operation of ['tfa.login', 'tfa.remove', 'tfa.regenerateBackupCodes'] as const) {
  const target = operation === 'tfa.remove' ? { target_id: 1 } : {};
  const byEmail = (lab: Lab) => ({ tfa_method: 'email', ...target, ...lab.sent('tfa.sendEmail') });
  add(operation, 'missing_auth_value', { tfa_method: 'totp' });
  add(operation, 'missing_auth_value', {});
  add(operation, 'missing_params', { code: CODE });
  add(operation, 'missing_params', (lab) => ({ ...byEmail(lab), secret: undefined }));
  add(operation, 'missing_params', (lab) => ({ tfa_method: 'sms', code: lab.sent('tfa.sendSms').code }));
  add(operation, 'invalid_tfa_method', { tfa_method: 'sms', tfa_method_id: 1, code: CODE, secret: 'any' });
  add(operation, 'not_found', { tfa_method_id: 30, code: CODE });
  add(operation, '2fa_expired', madeBefore(expiry, byEmail));
  add(operation, 'challenge_not_found', (lab) => ({ ...byEmail(lab), secret: 'nobody' }));
  add(operation, 'no_challenge_found', (lab) => ({ ...byEmail(lab), ...begunLogin(lab) }));
  add(operation, 'phone_number_mismatch', (lab) => ({
    tfa_method: 'sms',
    ...lab.sent('tfa.sendSms', { phone_number: NEW_PHONE }),
  }));
  const failed = operation === 'tfa.login' ? '2fa_login_failed' : '2fa_verification_failed';
  // Of the two codes one says how often, and until when (§7).
  const counted = operation === 'tfa.login' ? {} : COUNTED;
  add(operation, failed, counted, (lab) => ({ tfa_method: 'totp', code: wrong(lab.totp(1)) }));
  add(operation, 'tfa_locked', LOCKED, madeBefore(failOften, byApp));
  add(operation, 'tfa_method_not_configured', by('broken'), TOTP);
  for (const backup_code of ['AAAA-BBBB-CCCC', 'AAAABBBBCCC1', 'AAAA-BBBB-CCC1 ', ''])
    add(operation, 'invalid_backup_code', { backup_code, ...target });
}

add('tfa.login', 'missing_auth_value', NO_KEY, { code: CODE });
add('tfa.login', '2fa_login_failed', by('fresh'), { code: CODE, secret: 'any' });
add('tfa.login', '2fa_login_failed', by('admin'), TOTP);
add('tfa.login', '2fa_login_failed', (lab) => ({
  tfa_method: 'email',
  ...wrongly(lab.sent('tfa.sendEmail')),
}));
add('tfa.login', '2fa_login_failed', (lab) => ({ ...byApp(lab), admin: true }));
const expiredSession = (lab: Lab) => {
  const { session_key } = lab.ok('tfa.login', byApp(lab));
  lab.advance(86_400_000);
  return String(session_key);
};
add('tfa.login', 'auth_error', { key: expiredSession }, byApp);
for (const operation of ['tfa.remove', 'tfa.regenerateBackupCodes'] as const)
  add(operation, '2fa_verification_failed', by('fresh'), { code: CODE });
add('tfa.regenerateBackupCodes', 'missing_phone_number', by('legacy-without-phone'), (lab) => ({
  tfa_method: 'email',
  ...lab.sent('tfa.sendEmail', {}, 'legacy-without-phone'),
}));

const BEGIN = 'tfa.authorizeNewMethod';

// The ways of asking for an SMS: a new one, one more, and step 1 of an authorization.
for (const operation of ['tfa.sendSms', 'tfa.test', 'tfa.resendSms', 'tfa.resend', BEGIN] as const) {
  const isAuthorization = operation === BEGIN;
  const isResend = operation === 'tfa.resendSms' || operation === 'tfa.resend';
  const method = isAuthorization ? { tfa_method: 'sms' } : {};
  /** What has to have happened before, then a change, then the request. */
  const asked =
    (input: Fields, change: (lab: Lab) => void = () => {}) =>
    (lab: Lab) => {
      if (isResend) lab.ok('tfa.sendSms');
      change(lab);
      return { ...method, ...input };
    };
  add(
    operation,
    'email_not_verified',
    asked({}, ({ tfa }) => tfa.setUser(1, { email_verified: false })),
  );
  add(
    operation,
    'twilio_error',
    asked({}, ({ tfa }) => tfa.set({ sms_provider: 'failing' })),
  );
  add(
    operation,
    'twilio_rate_limited',
    asked({}, ({ tfa }) => tfa.set({ sms_provider: 'rate limited' })),
  );
  add(
    operation,
    'sms_blocked_number',
    asked({}, ({ tfa }) => tfa.set({ blocked_numbers: [DEV_PHONE] })),
  );
  add(
    operation,
    'sms_fraud_detected',
    asked({}, ({ tfa }) => tfa.setUser(1, { sms_fraud: true })),
  );
  add(operation, 'invalid_tfa_method', asked({ tfa_method_id: 1 }));
  add(operation, 'not_found', asked({ tfa_method_id: 999 }));
  add(operation, 'sms_rate_limited', { settings: { smsPerWindow: 1 } }, (lab) => {
    lab.ok('tfa.sendSms', isResend ? {} : { phone_number: NEW_PHONE });
    return method;
  });
  add(operation, 'missing_phone_number', by('sms-without-phone'), (lab) => {
    if (isResend) lab.ok('tfa.sendSms', { phone_number: NEW_PHONE }, 'sms-without-phone');
    return isAuthorization ? method : { tfa_method_id: 110 };
  });
  if (isAuthorization) continue;

  add(operation, 'missing_auth_value', NO_KEY, {});
  add(operation, 'phone_number_mismatch', asked({ tfa_method_id: 2, phone_number: NEW_PHONE }));
  add(operation, 'challenge_not_found', asked({ secret: 'nobody' }));
  add(operation, '2fa_expired', { key: null }, madeBefore(expiry, begunLogin));
  add(operation, 'preauth_phone_cap', { key: null, settings: { phoneCap: 1 } }, (lab) => {
    const first = begunLogin(lab);
    lab.ok('tfa.sendSms', first, null);
    return isResend ? first : begunLogin(lab);
  });
}

for (const operation of ['tfa.sendSms', 'tfa.test'] as const) {
  add(operation, 'tfa_challenge_exists', (lab) => {
    lab.ok('tfa.sendSms');
    return {};
  });
  add(operation, 'missing_phone_number', by('fresh'), {});
  add(operation, 'phone_number_mismatch', { key: null }, (lab) => ({
    ...begunLogin(lab),
    phone_number: NEW_PHONE,
  }));
}
for (const operation of ['tfa.resendSms', 'tfa.resend'] as const) {
  add(operation, 'phone_number_mismatch', by('twins'), (lab) => {
    lab.ok('tfa.sendSms', { tfa_method_id: 90 }, 'twins');
    return { tfa_method_id: 91 };
  });
  add(operation, 'no_challenge_found', {});
  add(operation, 'no_challenge_found', (lab) => {
    lab.ok('tfa.sendSms');
    lab.advance(CHALLENGE_MS);
    return {};
  });
  add(operation, 'no_challenge_found', { key: null }, begunLogin);
}
// The exemption of admins is for tfa/sms/ and tfa/sms/resend/ alone (§5.6).
add('tfa.test', 'email_not_verified', by('admin'), {});

add('tfa.sendEmail', 'missing_auth_value', NO_KEY, {});
add('tfa.sendEmail', 'email_not_verified', by('unverified'), {});
add('tfa.sendEmail', 'email_not_verified', by('admin'), {});
add('tfa.sendEmail', 'missing_email', by('no-email'), {});
add('tfa.sendEmail', 'challenge_not_found', { secret: 'nobody' });
add('tfa.sendEmail', '2fa_expired', { key: null }, madeBefore(expiry, begunLogin));

add(BEGIN, 'missing_email', by('no-email'), {});
add(BEGIN, 'email_not_verified', by('unverified'), { tfa_method: 'email' });
add(BEGIN, 'invalid_backup_code', { backup_code: 'AAAA-BBBB-CCCC' });
add(BEGIN, 'invalid_tfa_method', by('broken'), { tfa_method: 'sms' });
add(BEGIN, 'bad_request', {});
add(BEGIN, 'bad_request', by('twins'), { tfa_method: 'totp' });
add(BEGIN, 'tfa_locked', LOCKED, madeBefore(failOften, { tfa_method: 'totp' }));
add(BEGIN, 'tfa_method_not_configured', by('broken'), { tfa_method: 'totp' });
add(BEGIN, 'challenge_creation_failed', madeBefore(storeIs('read only'), { tfa_method: 'totp' }));
add(BEGIN, 'service_unavailable', madeBefore(storeIs('down'), { tfa_method: 'totp' }));
add(BEGIN, 'preauth_phone_cap', { settings: { phoneCap: 1 } }, (lab) => {
  lab.ok(BEGIN, { tfa_method: 'sms' });
  return { tfa_method: 'sms' };
});

const STEP_2 = 'tfa.confirmAuthorization';
const begunByApp = (lab: Lab) => ({
  secret: String(lab.ok(BEGIN, { tfa_method: 'totp' }).secret),
  code: lab.totp(1),
});
const removal = (target_id: number) => (lab: Lab) => {
  lab.ok('tfa.remove', { backup_code: 'AAAA-BBBB-CCC1', target_id });
};
add(STEP_2, 'missing_params', {});
add(STEP_2, 'missing_params', { code: CODE });
add(STEP_2, 'missing_params', { secret: 'b1946ac9' });
add(STEP_2, 'no_pending_authorization', { code: CODE, secret: 'nobody' });
add(STEP_2, 'no_pending_authorization', (lab) => lab.sent('tfa.sendEmail'));
add(STEP_2, 'challenge_not_found', (lab) => ({ ...begunByApp(lab), secret: 'nobody' }));
add(STEP_2, '2fa_expired', madeBefore(expiry, begunByApp));
add(STEP_2, '2fa_verification_failed', COUNTED, (lab) => wrongly(begunByApp(lab)));
add(STEP_2, '2fa_verification_failed', (lab) => wrongly(lab.sent(BEGIN, { tfa_method: 'email' })));
add(STEP_2, 'no_challenge_found', (lab) => {
  const proof = lab.sent(BEGIN, { tfa_method: 'email' });
  for (let time = 0; time < 6; time += 1) lab.call(STEP_2, wrongly(proof));
  return proof;
});
add(STEP_2, 'tfa_locked', LOCKED, madeBefore(failOften, begunByApp));
add(
  STEP_2,
  'tfa_method_not_configured',
  madeBefore(({ tfa }) => tfa.setTotpSecret(1, null), begunByApp),
);
add(STEP_2, 'not_found', madeBefore(removal(1), begunByApp));
add(
  STEP_2,
  'invalid_tfa_method',
  madeBefore(removal(2), (lab) => lab.sent(BEGIN, { tfa_method: 'sms' })),
);
add(STEP_2, 'phone_number_mismatch', by('twins'), (lab) => {
  const proof = lab.sent(BEGIN, { tfa_method_id: 90 }, 'twins');
  lab.ok('tfa.remove', { tfa_method_id: 92, code: lab.totp(92), target_id: 90 }, 'twins');
  return proof;
});
add(STEP_2, 'service_unavailable', madeBefore(storeIs('down'), begunByApp));

const NEW_APP = { ...TOTP, secret: 'JBSWY3DPEHPK3PXP' };
for (const operation of ['tfa.confirmNew', 'tfa.testSubmit'] as const) {
  const bySms = { tfa_method: 'sms', phone_number: NEW_PHONE };
  const smsSent = (lab: Lab) => lab.sent('tfa.sendSms', { phone_number: NEW_PHONE }, 'fresh');
  /** As a user without methods whose window is open. */
  const addOpen = (code: ErrorCode, input: Input) =>
    add(operation, code, by('fresh'), (lab) => {
      lab.authorize('fresh');
      return inputIn(lab, input);
    });
  add(operation, 'authorization_required', by('fresh'), NEW_APP);
  addOpen(
    'authorization_required',
    madeBefore((lab) => lab.advance(WINDOW_MS), NEW_APP),
  );
  addOpen('service_unavailable', madeBefore(storeIs('down'), NEW_APP));
  add(operation, 'duplicate_tfa_method', (lab) => {
    lab.authorize('dev');
    return NEW_APP;
  });
  addOpen('missing_phone_number', (lab) => ({ tfa_method: 'sms', ...smsSent(lab) }));
  addOpen('invalid_tfa_method', { ...NEW_APP, tfa_method: 'email' });
  addOpen('missing_params', { tfa_method: 'totp' });
  addOpen('missing_params', { ...NEW_APP, secret: undefined });
  addOpen('missing_params', { ...NEW_APP, code: undefined });
  addOpen('bad_request', { ...NEW_APP, secret: '1 is no base32' });
  addOpen('2fa_verification_failed', (lab) => ({ ...NEW_APP, code: wrong(lab.totp(NEW_APP.secret)) }));
  addOpen('2fa_verification_failed', (lab) => ({ ...bySms, ...wrongly(smsSent(lab)) }));
  addOpen(
    '2fa_expired',
    madeBefore(expiry, (lab) => ({ ...bySms, ...smsSent(lab) })),
  );
  addOpen('challenge_not_found', { ...bySms, code: CODE, secret: 'nobody' });
  addOpen('no_challenge_found', (lab) => ({ ...bySms, ...lab.sent('tfa.sendEmail', {}, 'fresh') }));
  addOpen('phone_number_mismatch', (lab) => ({ ...bySms, ...smsSent(lab), phone_number: DEV_PHONE }));
}
add('tfa.testSubmit', 'untracked_2fa_found', by('legacy'), NEW_APP);

add('tfa.update', 'not_found', { tfa_method_id: 30, label: 'mine?' });
add('tfa.update', 'not_found', by('broken'), { tfa_method: 'sms' });
add('tfa.update', 'invalid_tfa_method', { tfa_method: 'email', label: 'x' });
add('tfa.update', 'invalid_tfa_method', { tfa_method: 'sms', tfa_method_id: 1 });
add('tfa.update', 'bad_request', by('twins'), { tfa_method: 'sms', label: 'x' });
add('tfa.update', 'bad_request', { tfa_method_id: 1, is_primary: false });
add('tfa.update', 'bad_request', { tfa_method_id: 1, label: 'x'.repeat(31) });

describe('an error of 2FA', () => {
  test.each(cases)('$operation: $code', ({ operation, code, input, key = 'dev', settings, ...rest }) => {
    const lab = createLab(settings);
    const sender = typeof key === 'function' ? key(lab) : key;
    const answer = lab.call(operation, inputIn(lab, input), sender);
    const { status = ERRORS[code].status[0], fields = {} } = rest;
    expect(answer).toMatchObject({ status, body: { error: code } });
    expect(answer.body).toEqual({ error: code, msg: expect.any(String) as string, ...fields });
    const reason = answer.headers['x-emulator-reason'] ?? '';
    expect(reason.endsWith(String(answer.body['msg']).replace('§', 'section '))).toBe(true);
    expect([...ERROR_WORDS]).toContain(`${code} [${reason}]`);
    expect([...operationOf(operation).errors, ...COMMON_ERRORS]).toContain(code);
  });

  test.each(TFA_OPERATIONS)('that %s declares is provoked above', (operation) => {
    const provoked = new Set(cases.filter((one) => one.operation === operation).map(({ code }) => code));
    const { errors } = operationOf(operation);
    expect(new Set(errors).size).toBe(errors.length);
    expect(errors.filter((code) => !provoked.has(code))).toEqual([]);
  });

  test('of §7 is provoked above, each in all its statuses', () => {
    const ofInterface = ERROR_CODES.filter((code) => !('assumed' in ERRORS[code]));
    expect(ofInterface).toHaveLength(32);
    for (const code of ofInterface) {
      const statuses = new Set(
        cases.filter((one) => one.code === code).map(({ status }) => status ?? ERRORS[code].status[0]),
      );
      expect(statuses, code).toEqual(new Set(ERRORS[code].status));
    }
  });
});
