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
  type Answered,
  type Lab,
} from '../../../support/two-factor.ts';
import { ERROR_WORDS } from './error-words.ts';

interface Case {
  readonly operation: OperationId;
  readonly code: ErrorCode;
  /** Where it is not the usual one of the code. */
  readonly status?: number;
  readonly settings?: SettingsInput;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly provoke: (lab: Lab) => Answered;
}

const TFA_OPERATIONS = OPERATION_IDS.filter((id) => id.startsWith('tfa.'));
const cases: Case[] = [];

type Details = Omit<Case, 'operation' | 'code' | 'provoke'>;

function add(
  operation: OperationId,
  code: ErrorCode,
  ...rest: [Case['provoke']] | [Details, Case['provoke']]
): void {
  const [details, provoke] = rest.length === 1 ? [{}, rest[0]] : rest;
  cases.push({ operation, code, provoke, ...details });
}

const NO_KEY = { status: 401 };
/** One wrong code more than a method stands. */
const LOCKED = { fail_count: 6, locked_until: (NOON + LOCKOUT_MS) / 1000 };

function failOften(lab: Lab): void {
  for (let time = 0; time < 6; time += 1)
    lab.call('tfa.login', { tfa_method: 'totp', code: wrong(lab.totp(1)) });
}

for (const operation of TFA_OPERATIONS) {
  const { input } = operationOf(operation).example;
  add(operation, 'team_user_forbidden', (lab) => lab.call(operation, { ...input }, 'team'));
  add(operation, 'invalid_key', (lab) => lab.call(operation, { ...input }, 'nobody'));
  if (!operationOf(operation).verification.secretAlone) {
    add(operation, 'missing_auth_value', NO_KEY, (lab) => lab.call(operation, { ...input }, null));
  }
  if (operationOf(operation).body) {
    add(operation, 'bad_request', (lab) => lab.call(operation, { ...input, unheard_of: 1 }));
  }
}

for (const operation of ['tfa.login', 'tfa.remove', 'tfa.regenerateBackupCodes'] as const) {
  const verify = (lab: Lab, proof: Record<string, unknown>, key = 'dev') => lab.call(operation, proof, key);
  const byEmail = (lab: Lab) => {
    const target = operation === 'tfa.remove' ? { target_id: 1 } : {};
    return { tfa_method: 'email', ...target, ...lab.sent('tfa.sendEmail') };
  };
  add(operation, 'missing_auth_value', (lab) => verify(lab, { tfa_method: 'totp' }));
  add(operation, 'missing_auth_value', (lab) => verify(lab, {}));
  add(operation, 'missing_params', (lab) => verify(lab, { code: '123456' }));
  add(operation, 'missing_params', (lab) => verify(lab, { ...byEmail(lab), secret: undefined }));
  add(operation, 'missing_params', (lab) =>
    verify(lab, { tfa_method: 'sms', code: lab.sent('tfa.sendSms').code }),
  );
  add(operation, 'invalid_tfa_method', (lab) =>
    verify(lab, { tfa_method: 'sms', tfa_method_id: 1, code: lab.totp(1), secret: 'any' }),
  );
  add(operation, 'not_found', (lab) => verify(lab, { tfa_method_id: 30, code: '123456' }));
  add(operation, '2fa_expired', (lab) => {
    const proof = byEmail(lab);
    lab.advance(CHALLENGE_MS);
    return verify(lab, proof);
  });
  add(operation, 'challenge_not_found', (lab) => verify(lab, { ...byEmail(lab), secret: 'nobody' }));
  add(operation, 'no_challenge_found', (lab) =>
    verify(lab, { ...byEmail(lab), secret: lab.tfa.startLogin(1).tfa_secret }),
  );
  add(operation, 'phone_number_mismatch', (lab) =>
    verify(lab, { tfa_method: 'sms', ...lab.sent('tfa.sendSms', { phone_number: NEW_PHONE }) }),
  );
  const failed = operation === 'tfa.login' ? '2fa_login_failed' : '2fa_verification_failed';
  // Of the two codes one says how often, and until when (§7).
  const counted = operation === 'tfa.login' ? {} : { fields: { fail_count: 1, locked_until: null } };
  add(operation, failed, counted, (lab) => verify(lab, { tfa_method: 'totp', code: wrong(lab.totp(1)) }));
  add(operation, 'tfa_locked', { fields: LOCKED }, (lab) => {
    failOften(lab);
    return verify(lab, { tfa_method: 'totp', code: lab.totp(1) });
  });
  add(operation, 'tfa_method_not_configured', (lab) =>
    verify(lab, { tfa_method: 'totp', code: '123456' }, 'broken'),
  );
  for (const backup_code of ['AAAA-BBBB-CCCC', 'AAAABBBBCCC1', 'AAAA-BBBB-CCC1 ', '']) {
    const target = operation === 'tfa.remove' ? { target_id: 1 } : {};
    add(operation, 'invalid_backup_code', (lab) => verify(lab, { backup_code, ...target }));
  }
}

add('tfa.login', 'missing_auth_value', NO_KEY, (lab) => lab.call('tfa.login', { code: '123456' }, null));
add('tfa.login', '2fa_login_failed', (lab) =>
  lab.call('tfa.login', { code: '123456', secret: 'any' }, 'fresh'),
);
add('tfa.login', '2fa_login_failed', (lab) =>
  lab.call('tfa.login', { tfa_method: 'totp', code: '123456' }, 'admin'),
);
add('tfa.login', '2fa_login_failed', (lab) => {
  const { secret, code } = lab.sent('tfa.sendEmail');
  return lab.call('tfa.login', { tfa_method: 'email', secret, code: wrong(code) });
});
add('tfa.login', '2fa_login_failed', (lab) =>
  lab.call('tfa.login', { tfa_method: 'totp', code: lab.totp(1), admin: true }),
);
add('tfa.login', 'auth_error', (lab) => {
  const { session_key } = lab.ok('tfa.login', { tfa_method: 'totp', code: lab.totp(1) });
  lab.advance(86_400_000);
  return lab.call('tfa.login', { tfa_method: 'totp', code: lab.totp(1) }, session_key);
});
for (const operation of ['tfa.remove', 'tfa.regenerateBackupCodes'] as const)
  add(operation, '2fa_verification_failed', (lab) => lab.call(operation, { code: '123456' }, 'fresh'));
add('tfa.regenerateBackupCodes', 'missing_phone_number', (lab) => {
  const key = 'legacy-without-phone';
  const proof = { tfa_method: 'email', ...lab.sent('tfa.sendEmail', {}, key) };
  return lab.call('tfa.regenerateBackupCodes', proof, key);
});

/** The ways of asking for an SMS: a new one, one more, and step 1 of an authorization. */
const SMS_OPERATIONS = [
  'tfa.sendSms',
  'tfa.test',
  'tfa.resendSms',
  'tfa.resend',
  'tfa.authorizeNewMethod',
] as const;

for (const operation of SMS_OPERATIONS) {
  const isAuthorization = operation === 'tfa.authorizeNewMethod';
  const isResend = operation === 'tfa.resendSms' || operation === 'tfa.resend';
  /** What has to have happened before, then `change`, then the request. */
  const ask = (lab: Lab, change: () => void = () => {}, input: Record<string, unknown> = {}, key = 'dev') => {
    if (isResend) lab.ok('tfa.sendSms', {}, key);
    change();
    return lab.call(operation, { ...(isAuthorization ? { tfa_method: 'sms' } : {}), ...input }, key);
  };
  add(operation, 'email_not_verified', (lab) =>
    ask(lab, () => lab.tfa.setUser(1, { email_verified: false })),
  );
  add(operation, 'twilio_error', (lab) => ask(lab, () => lab.tfa.set({ sms_provider: 'failing' })));
  add(operation, 'twilio_rate_limited', (lab) =>
    ask(lab, () => lab.tfa.set({ sms_provider: 'rate limited' })),
  );
  add(operation, 'sms_blocked_number', (lab) =>
    ask(lab, () => lab.tfa.set({ blocked_numbers: [DEV_PHONE] })),
  );
  add(operation, 'sms_fraud_detected', (lab) => ask(lab, () => lab.tfa.setUser(1, { sms_fraud: true })));
  add(operation, 'invalid_tfa_method', (lab) => ask(lab, undefined, { tfa_method_id: 1 }));
  add(operation, 'not_found', (lab) => ask(lab, undefined, { tfa_method_id: 999 }));
  add(operation, 'sms_rate_limited', { settings: { smsPerWindow: 1 } }, (lab) => {
    if (!isResend) lab.ok('tfa.sendSms', { phone_number: NEW_PHONE });
    return ask(lab);
  });
  add(operation, 'missing_phone_number', (lab) => {
    const key = 'sms-without-phone';
    if (!isResend) return ask(lab, undefined, isAuthorization ? {} : { tfa_method_id: 110 }, key);
    lab.ok('tfa.sendSms', { phone_number: NEW_PHONE }, key);
    return lab.call(operation, { tfa_method_id: 110 }, key);
  });
  if (isAuthorization) continue;

  add(operation, 'missing_auth_value', NO_KEY, (lab) => lab.call(operation, {}, null));
  add(operation, 'phone_number_mismatch', (lab) =>
    ask(lab, undefined, { tfa_method_id: 2, phone_number: NEW_PHONE }),
  );
  add(operation, 'challenge_not_found', (lab) => ask(lab, undefined, { secret: 'nobody' }));
  add(operation, '2fa_expired', (lab) => {
    const secret = lab.tfa.startLogin(1).tfa_secret;
    lab.advance(CHALLENGE_MS);
    return lab.call(operation, { secret }, null);
  });
  add(operation, 'preauth_phone_cap', { settings: { phoneCap: 1 } }, (lab) => {
    const first = { secret: lab.tfa.startLogin(1).tfa_secret };
    lab.ok('tfa.sendSms', first, null);
    const next = isResend ? first : { secret: lab.tfa.startLogin(1).tfa_secret };
    return lab.call(operation, next, null);
  });
}

for (const operation of ['tfa.sendSms', 'tfa.test'] as const) {
  add(operation, 'tfa_challenge_exists', (lab) => {
    lab.ok('tfa.sendSms');
    return lab.call(operation);
  });
  add(operation, 'missing_phone_number', (lab) => lab.call(operation, {}, 'fresh'));
  add(operation, 'phone_number_mismatch', (lab) =>
    lab.call(operation, { secret: lab.tfa.startLogin(1).tfa_secret, phone_number: NEW_PHONE }, null),
  );
}
for (const operation of ['tfa.resendSms', 'tfa.resend'] as const) {
  add(operation, 'phone_number_mismatch', (lab) => {
    lab.ok('tfa.sendSms', { tfa_method_id: 90 }, 'twins');
    return lab.call(operation, { tfa_method_id: 91 }, 'twins');
  });
  add(operation, 'no_challenge_found', (lab) => lab.call(operation));
  add(operation, 'no_challenge_found', (lab) => {
    lab.ok('tfa.sendSms');
    lab.advance(CHALLENGE_MS);
    return lab.call(operation);
  });
  add(operation, 'no_challenge_found', (lab) =>
    lab.call(operation, { secret: lab.tfa.startLogin(1).tfa_secret }, null),
  );
}
// The exemption of admins is for tfa/sms/ and tfa/sms/resend/ alone (§5.6).
add('tfa.test', 'email_not_verified', (lab) => lab.call('tfa.test', {}, 'admin'));

add('tfa.sendEmail', 'missing_auth_value', NO_KEY, (lab) => lab.call('tfa.sendEmail', {}, null));
add('tfa.sendEmail', 'email_not_verified', (lab) => lab.call('tfa.sendEmail', {}, 'unverified'));
add('tfa.sendEmail', 'email_not_verified', (lab) => lab.call('tfa.sendEmail', {}, 'admin'));
add('tfa.sendEmail', 'missing_email', (lab) => lab.call('tfa.sendEmail', {}, 'no-email'));
add('tfa.sendEmail', 'challenge_not_found', (lab) => lab.call('tfa.sendEmail', { secret: 'nobody' }));
add('tfa.sendEmail', '2fa_expired', (lab) => {
  const secret = lab.tfa.startLogin(1).tfa_secret;
  lab.advance(CHALLENGE_MS);
  return lab.call('tfa.sendEmail', { secret }, null);
});

const BEGIN = 'tfa.authorizeNewMethod';
add(BEGIN, 'missing_email', (lab) => lab.call(BEGIN, {}, 'no-email'));
add(BEGIN, 'email_not_verified', (lab) => lab.call(BEGIN, { tfa_method: 'email' }, 'unverified'));
add(BEGIN, 'invalid_backup_code', (lab) => lab.call(BEGIN, { backup_code: 'AAAA-BBBB-CCCC' }));
add(BEGIN, 'invalid_tfa_method', (lab) => lab.call(BEGIN, { tfa_method: 'sms' }, 'broken'));
add(BEGIN, 'bad_request', (lab) => lab.call(BEGIN, {}));
add(BEGIN, 'bad_request', (lab) => lab.call(BEGIN, { tfa_method: 'totp' }, 'twins'));
add(BEGIN, 'tfa_locked', { fields: LOCKED }, (lab) => {
  failOften(lab);
  return lab.call(BEGIN, { tfa_method: 'totp' });
});
add(BEGIN, 'tfa_method_not_configured', (lab) => lab.call(BEGIN, { tfa_method: 'totp' }, 'broken'));
add(BEGIN, 'challenge_creation_failed', (lab) => {
  lab.tfa.set({ store: 'read only' });
  return lab.call(BEGIN, { tfa_method: 'totp' });
});
add(BEGIN, 'service_unavailable', (lab) => {
  lab.tfa.set({ store: 'down' });
  return lab.call(BEGIN, { tfa_method: 'totp' });
});
add(BEGIN, 'preauth_phone_cap', { settings: { phoneCap: 1 } }, (lab) => {
  lab.ok(BEGIN, { tfa_method: 'sms' });
  return lab.call(BEGIN, { tfa_method: 'sms' });
});

const STEP_2 = 'tfa.confirmAuthorization';
const byApp = (lab: Lab) => ({
  secret: String(lab.ok(BEGIN, { tfa_method: 'totp' }).secret),
  code: lab.totp(1),
});
const removeBy = (lab: Lab, target: number) => {
  lab.ok('tfa.remove', { backup_code: 'AAAA-BBBB-CCC1', target_id: target });
};
add(STEP_2, 'missing_params', (lab) => lab.call(STEP_2, {}));
add(STEP_2, 'missing_params', (lab) => lab.call(STEP_2, { code: '123456' }));
add(STEP_2, 'missing_params', (lab) => lab.call(STEP_2, { secret: 'b1946ac9' }));
add(STEP_2, 'no_pending_authorization', (lab) => lab.call(STEP_2, { code: '123456', secret: 'nobody' }));
add(STEP_2, 'no_pending_authorization', (lab) => lab.call(STEP_2, lab.sent('tfa.sendEmail')));
add(STEP_2, 'challenge_not_found', (lab) => lab.call(STEP_2, { ...byApp(lab), secret: 'nobody' }));
add(STEP_2, '2fa_expired', (lab) => {
  const proof = byApp(lab);
  lab.advance(CHALLENGE_MS);
  return lab.call(STEP_2, proof);
});
add(STEP_2, '2fa_verification_failed', { fields: { fail_count: 1, locked_until: null } }, (lab) =>
  lab.call(STEP_2, { ...byApp(lab), code: wrong(lab.totp(1)) }),
);
add(STEP_2, '2fa_verification_failed', (lab) => {
  const { secret, code } = lab.sent(BEGIN, { tfa_method: 'email' });
  return lab.call(STEP_2, { secret, code: wrong(code) });
});
add(STEP_2, 'no_challenge_found', (lab) => {
  const { secret, code } = lab.sent(BEGIN, { tfa_method: 'email' });
  for (let time = 0; time < 6; time += 1) lab.call(STEP_2, { secret, code: wrong(code) });
  return lab.call(STEP_2, { secret, code });
});
add(STEP_2, 'tfa_locked', { fields: LOCKED }, (lab) => {
  const proof = byApp(lab);
  failOften(lab);
  return lab.call(STEP_2, proof);
});
add(STEP_2, 'tfa_method_not_configured', (lab) => {
  const proof = byApp(lab);
  lab.tfa.setTotpSecret(1, null);
  return lab.call(STEP_2, proof);
});
add(STEP_2, 'not_found', (lab) => {
  const proof = byApp(lab);
  removeBy(lab, 1);
  return lab.call(STEP_2, proof);
});
add(STEP_2, 'invalid_tfa_method', (lab) => {
  const proof = lab.sent(BEGIN, { tfa_method: 'sms' });
  removeBy(lab, 2);
  return lab.call(STEP_2, proof);
});
add(STEP_2, 'phone_number_mismatch', (lab) => {
  const proof = lab.sent(BEGIN, { tfa_method_id: 90 }, 'twins');
  lab.ok('tfa.remove', { tfa_method_id: 92, code: lab.totp(92), target_id: 90 }, 'twins');
  return lab.call(STEP_2, proof, 'twins');
});
add(STEP_2, 'service_unavailable', (lab) => {
  const proof = byApp(lab);
  lab.tfa.set({ store: 'down' });
  return lab.call(STEP_2, proof);
});

for (const operation of ['tfa.confirmNew', 'tfa.testSubmit'] as const) {
  const totp = { tfa_method: 'totp', code: '123456', secret: 'JBSWY3DPEHPK3PXP' };
  const bySms = { tfa_method: 'sms', phone_number: NEW_PHONE };
  /** As a user without methods whose window is open. */
  const confirm = (lab: Lab, input: () => Record<string, unknown>) => {
    lab.authorize('fresh');
    return lab.call(operation, input(), 'fresh');
  };
  const smsSent = (lab: Lab) => lab.sent('tfa.sendSms', { phone_number: NEW_PHONE }, 'fresh');
  add(operation, 'authorization_required', (lab) => lab.call(operation, totp, 'fresh'));
  add(operation, 'authorization_required', (lab) => {
    lab.authorize('fresh');
    lab.advance(WINDOW_MS);
    return lab.call(operation, totp, 'fresh');
  });
  add(operation, 'service_unavailable', (lab) =>
    confirm(lab, () => {
      lab.tfa.set({ store: 'down' });
      return totp;
    }),
  );
  add(operation, 'duplicate_tfa_method', (lab) => {
    lab.authorize('dev');
    return lab.call(operation, totp);
  });
  add(operation, 'missing_phone_number', (lab) =>
    confirm(lab, () => ({ tfa_method: 'sms', ...smsSent(lab) })),
  );
  add(operation, 'invalid_tfa_method', (lab) => confirm(lab, () => ({ ...totp, tfa_method: 'email' })));
  for (const { code, secret, ...rest } of [totp]) {
    add(operation, 'missing_params', (lab) => confirm(lab, () => rest));
    add(operation, 'missing_params', (lab) => confirm(lab, () => ({ ...rest, code })));
    add(operation, 'missing_params', (lab) => confirm(lab, () => ({ ...rest, secret })));
  }
  add(operation, 'bad_request', (lab) => confirm(lab, () => ({ ...totp, secret: '1 is no base32' })));
  add(operation, '2fa_verification_failed', (lab) =>
    confirm(lab, () => ({ ...totp, code: wrong(lab.totp(totp.secret)) })),
  );
  add(operation, '2fa_verification_failed', (lab) =>
    confirm(lab, () => {
      const { secret, code } = smsSent(lab);
      return { ...bySms, secret, code: wrong(code) };
    }),
  );
  add(operation, '2fa_expired', (lab) =>
    confirm(lab, () => {
      const proof = smsSent(lab);
      lab.advance(CHALLENGE_MS);
      return { ...bySms, ...proof };
    }),
  );
  add(operation, 'challenge_not_found', (lab) =>
    confirm(lab, () => ({ ...bySms, code: '123456', secret: 'nobody' })),
  );
  add(operation, 'no_challenge_found', (lab) =>
    confirm(lab, () => ({ ...bySms, ...lab.sent('tfa.sendEmail', {}, 'fresh') })),
  );
  add(operation, 'phone_number_mismatch', (lab) =>
    confirm(lab, () => ({ ...bySms, ...smsSent(lab), phone_number: DEV_PHONE })),
  );
}
add('tfa.testSubmit', 'untracked_2fa_found', (lab) =>
  lab.call('tfa.testSubmit', { tfa_method: 'totp', code: '123456', secret: 'JBSWY3DPEHPK3PXP' }, 'legacy'),
);

add('tfa.update', 'not_found', (lab) => lab.call('tfa.update', { tfa_method_id: 30, label: 'mine?' }));
add('tfa.update', 'not_found', (lab) => lab.call('tfa.update', { tfa_method: 'sms' }, 'broken'));
add('tfa.update', 'invalid_tfa_method', (lab) => lab.call('tfa.update', { tfa_method: 'email', label: 'x' }));
add('tfa.update', 'invalid_tfa_method', (lab) =>
  lab.call('tfa.update', { tfa_method: 'sms', tfa_method_id: 1 }),
);
add('tfa.update', 'bad_request', (lab) => lab.call('tfa.update', { tfa_method: 'sms', label: 'x' }, 'twins'));
add('tfa.update', 'bad_request', (lab) => lab.call('tfa.update', { tfa_method_id: 1, is_primary: false }));
add('tfa.update', 'bad_request', (lab) =>
  lab.call('tfa.update', { tfa_method_id: 1, label: 'x'.repeat(31) }),
);

describe('an error of 2FA', () => {
  test.each(cases)('$operation: $code', ({ operation, code, status, settings, fields = {}, provoke }) => {
    const lab = createLab(settings);
    const answer = provoke(lab);
    expect(answer).toMatchObject({ status: status ?? ERRORS[code].status[0], body: { error: code } });
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
