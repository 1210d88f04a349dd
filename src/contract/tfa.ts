/** Two-factor authentication (§4.4), with the verification matrix of §5.7 on each row. */
import * as z from 'zod';
import { BEARER_ONLY, type OperationTable, type Verification } from './define.ts';
import { LIMITS } from './limits.ts';
import { id, phoneNumber, secretText } from './schemas.ts';
import { STORED_TFA_METHODS, tfaMethod, tfaStatusOperations } from './tfa-status.ts';
import { user } from './users.ts';

/** Methods that a code can be verified by. E-mail is never stored as a method. */
export const TFA_METHODS = ['sms', 'totp', 'email'] as const;
export type TfaMethodName = (typeof TFA_METHODS)[number];

/** Three groups of four characters (§2.4). */
export const BACKUP_CODE = /^[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{4}$/;

const method = z.enum(TFA_METHODS).optional();
const code = z
  .string()
  .regex(/^\d{6}$/, 'a code has 6 digits')
  .meta({ format: 'password' })
  .describe('6 digits');
const secret = secretText.describe('tfa_secret from the call that sent the code');
const methodId = id.describe('needed when several methods of the same type exist');
const backupCode = secretText.describe('one-time backup code; makes the other fields unnecessary');
const label = z.string().max(LIMITS.methodLabelLength);

/** What proves a second factor: a code (with its secret where one was sent), or a backup code. */
const proof = {
  tfa_method: method.describe('default sms; not needed with backup_code'),
  code: code.optional().describe('6 digits; needed unless backup_code is given'),
  secret: secret.optional().describe('tfa_secret of the code; for sms and email'),
  tfa_method_id: methodId.optional(),
  backup_code: backupCode.optional(),
};

const LOGIN: Verification = { secretAlone: true, secret: 'for sms and email' };
const SENDS_CODE: Verification = { secretAlone: true, secret: 'without bearer' };
const CHANGES: Verification = { secretAlone: false, secret: 'for sms and email' };

const sms = z.strictObject({
  phone_number: phoneNumber
    .optional()
    .describe('E.164; needed without tfa_method_id and without a number on the account'),
  tfa_method_id: methodId.optional(),
  secret: secret.optional().describe('needed without an API key, omitted with one'),
});
const sent = z.looseObject({ msg: z.string(), secret: z.string() });
const done = z.looseObject({ success: z.boolean(), msg: z.string() });
const backupCodes = z.array(z.string()).describe('plaintext; shown once');

const confirmBody = z.strictObject({
  tfa_method: z.enum(STORED_TFA_METHODS),
  code,
  secret: secretText.describe('sms: tfa_secret of the challenge; totp: the base32 secret of totp-setup'),
  phone_number: phoneNumber.optional().describe('sms only'),
  label: label.optional(),
});

/** Of a code that was sent, and its secret. */
const CHALLENGE_ERRORS = [
  'invalid_tfa_method',
  'missing_params',
  '2fa_expired',
  'challenge_not_found',
  'no_challenge_found',
  'phone_number_mismatch',
  '2fa_verification_failed',
  'team_user_forbidden',
] as const;

/** Of a code that a configured method is verified by. */
const METHOD_ERRORS = [...CHALLENGE_ERRORS, 'tfa_locked', 'tfa_method_not_configured', 'not_found'] as const;

/** Of all that `proof` may be. */
const PROOF_ERRORS = [...METHOD_ERRORS, 'missing_auth_value', 'invalid_backup_code'] as const;

/** Of sending an SMS. */
const SMS_ERRORS = [
  'email_not_verified',
  'missing_phone_number',
  'twilio_error',
  'twilio_rate_limited',
  'preauth_phone_cap',
  'sms_rate_limited',
  'sms_blocked_number',
  'sms_fraud_detected',
  'invalid_tfa_method',
  'not_found',
  'team_user_forbidden',
] as const;

/** Of asking for an SMS. */
const ASK_SMS_ERRORS = [
  ...SMS_ERRORS,
  'missing_auth_value',
  'phone_number_mismatch',
  'challenge_not_found',
  '2fa_expired',
] as const;
const SEND_SMS_ERRORS = [...ASK_SMS_ERRORS, 'tfa_challenge_exists'] as const;
const RESEND_SMS_ERRORS = [...ASK_SMS_ERRORS, 'no_challenge_found'] as const;

const BACKUP_CODES_EXAMPLE = Array.from({ length: 10 }, (_, index) => `A1B2-C3D4-00${10 + index}`);

const smsOperation = {
  method: 'POST',
  base: 'main',
  origin: 'interface',
  source: '§4.4',
  verification: SENDS_CODE,
  body: sms,
  response: sent,
  repeatable: false,
  example: { input: { phone_number: '+15551234567' }, response: { msg: 'Code sent', secret: 'b1946ac9' } },
} as const;

const confirmOperation = {
  method: 'POST',
  base: 'main',
  origin: 'interface',
  source: '§4.4',
  verification: { secretAlone: false, secret: 'always' } satisfies Verification,
  body: confirmBody,
  response: done.extend({ backup_codes: backupCodes.optional() }),
  errors: [
    ...CHALLENGE_ERRORS,
    'authorization_required',
    'duplicate_tfa_method',
    'missing_phone_number',
    'service_unavailable',
  ],
  repeatable: false,
  example: {
    input: { tfa_method: 'totp', code: '123456', secret: 'JBSWY3DPEHPK3PXP', label: 'phone app' },
    response: { success: true, msg: 'TOTP method added', backup_codes: BACKUP_CODES_EXAMPLE },
  },
} as const;

export const tfaOperations = {
  ...tfaStatusOperations,
  'tfa.login': {
    method: 'POST',
    path: '/api/v0/tfa/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'Completes a login with a second factor',
    description:
      'With an API key as Bearer the answer has session_key, the Bearer value to use from then on. Without one, the session comes by cookie or header.',
    verification: LOGIN,
    body: z.strictObject({
      ...proof,
      admin: z.boolean().optional().describe('request an admin session; default false'),
    }),
    response: user.extend({
      session_key: z.string().optional(),
      backup_codes_remaining: z
        .int()
        .optional()
        .describe('only after a backup code, and only while any remain'),
      legacy_tfa_user: z.literal(true).optional(),
    }),
    errors: [...PROOF_ERRORS, '2fa_login_failed'],
    repeatable: false,
    example: {
      input: { tfa_method: 'totp', code: '123456' },
      response: { id: 7, tfa_status: 'enabled', email_verified_at: 1_780_000_000, session_key: 'session' },
    },
  },
  'tfa.remove': {
    method: 'DELETE',
    path: '/api/v0/tfa/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'Removes a second factor; with the last one, 2FA itself',
    verification: CHANGES,
    body: z.strictObject({
      ...proof,
      target_id: id
        .optional()
        .describe('method to remove; needed with backup_code, else the one that verified'),
    }),
    response: z.looseObject({
      msg: z.string(),
      remaining_methods: z.union([z.int(), z.array(tfaMethod)]).optional(),
    }),
    errors: PROOF_ERRORS,
    repeatable: false,
    example: {
      input: { backup_code: 'A1B2-C3D4-E5F6', target_id: 1 },
      response: { msg: '2FA method removed', remaining_methods: 1 },
    },
  },
  'tfa.sendEmail': {
    method: 'POST',
    path: '/api/v0/tfa/email/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'Sends a code to the verified e-mail address',
    description: 'With an API key and no secret, every call makes a fresh challenge and secret.',
    verification: { secretAlone: true, secret: 'never' },
    body: z.strictObject({ secret: secret.optional() }),
    response: z.looseObject({ success: z.boolean(), msg: z.string(), secret: z.string() }),
    errors: [
      'missing_auth_value',
      'email_not_verified',
      'missing_email',
      'challenge_not_found',
      '2fa_expired',
      'team_user_forbidden',
    ],
    repeatable: false,
    example: { input: {}, response: { success: true, msg: 'Code sent', secret: 'b1946ac9' } },
  },
  'tfa.sendSms': {
    ...smsOperation,
    path: '/api/v0/tfa/sms/',
    summary: 'Sends a code by SMS',
    errors: SEND_SMS_ERRORS,
  },
  'tfa.resendSms': {
    ...smsOperation,
    path: '/api/v0/tfa/sms/resend/',
    summary: 'Sends the code by SMS once more',
    description:
      'phone_number must be that of the original challenge. With an API key and no secret, a new secret is returned.',
    errors: RESEND_SMS_ERRORS,
  },
  'tfa.setupTotp': {
    method: 'POST',
    path: '/api/v0/tfa/totp-setup/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'A new TOTP secret for an authenticator app; adds nothing yet',
    verification: BEARER_ONLY,
    response: z.looseObject({
      secret: z.string().describe('base32'),
      provisioning_uri: z.string().describe('otpauth URI'),
    }),
    errors: ['team_user_forbidden'],
    repeatable: true,
    example: {
      input: {},
      response: {
        secret: 'JBSWY3DPEHPK3PXP',
        provisioning_uri: 'otpauth://totp/Service:dev@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Service',
      },
    },
  },
  'tfa.authorizeNewMethod': {
    method: 'POST',
    path: '/api/v0/tfa/authorize-new-method/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'Step 1 of adding a method: sends a code, or takes a backup code',
    description: 'A user with no methods is forced to email. A backup code opens the window at once.',
    verification: BEARER_ONLY,
    body: z.strictObject({
      tfa_method: method.describe('unnecessary with backup_code or an unambiguous tfa_method_id'),
      tfa_method_id: methodId.optional(),
      backup_code: backupCode.optional(),
    }),
    response: z.looseObject({
      success: z.boolean(),
      secret: z.string().optional(),
      msg: z.string().optional(),
    }),
    errors: [
      ...SMS_ERRORS,
      'missing_email',
      'invalid_backup_code',
      'tfa_locked',
      'tfa_method_not_configured',
      'challenge_creation_failed',
      'service_unavailable',
    ],
    repeatable: false,
    example: { input: { tfa_method: 'email' }, response: { success: true, secret: 'b1946ac9' } },
  },
  'tfa.confirmAuthorization': {
    method: 'PUT',
    path: '/api/v0/tfa/authorize-new-method/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'Step 2 of adding a method: opens the 30-minute window',
    verification: { secretAlone: false, secret: 'always' },
    body: z.strictObject({ code, secret }),
    response: done,
    errors: [...METHOD_ERRORS, 'no_pending_authorization', 'service_unavailable'],
    repeatable: false,
    example: {
      input: { code: '123456', secret: 'b1946ac9' },
      response: { success: true, msg: 'Authorization successful.' },
    },
  },
  'tfa.confirmNew': {
    ...confirmOperation,
    path: '/api/v0/tfa/confirm-new/',
    summary: 'Adds a method; the first one comes with 10 backup codes, shown once',
  },
  'tfa.update': {
    method: 'PUT',
    path: '/api/v0/tfa/update/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'Changes the label of a method, or makes it the primary one',
    verification: BEARER_ONLY,
    body: z
      .strictObject({
        tfa_method_id: methodId.optional(),
        tfa_method: z.enum(STORED_TFA_METHODS).optional().describe('when exactly one method is of that type'),
        label: label.optional(),
        is_primary: z.boolean().optional(),
      })
      .refine((body) => body.tfa_method_id !== undefined || body.tfa_method !== undefined, {
        message: 'name the method by tfa_method_id or tfa_method',
        path: ['tfa_method_id'],
      }),
    response: done.extend({ method: tfaMethod }),
    errors: ['invalid_tfa_method', 'not_found', 'team_user_forbidden'],
    repeatable: true,
    example: {
      input: { tfa_method_id: 1, label: 'work phone', is_primary: true },
      response: {
        success: true,
        msg: 'Method updated',
        method: {
          id: 1,
          user_id: 7,
          method: 'totp',
          label: 'work phone',
          is_primary: true,
          fail_count: 0,
          locked_until: null,
          created_at: 1_780_000_000,
          last_used: null,
        },
      },
    },
  },
  'tfa.regenerateBackupCodes': {
    method: 'PUT',
    path: '/api/v0/tfa/regen-backup-codes/',
    base: 'main',
    origin: 'interface',
    source: '§4.4',
    summary: 'A fresh set of 10 backup codes, shown once; all earlier ones stop working',
    verification: CHANGES,
    body: z.strictObject(proof),
    response: z.looseObject({ msg: z.string(), backup_codes: backupCodes }),
    errors: [...PROOF_ERRORS, 'missing_phone_number'],
    repeatable: false,
    example: {
      input: { tfa_method: 'totp', code: '123456' },
      response: { msg: 'Backup codes regenerated', backup_codes: BACKUP_CODES_EXAMPLE },
    },
  },
  'tfa.test': {
    ...smsOperation,
    path: '/api/v0/tfa/test/',
    summary: 'Deprecated: sends a code by SMS',
    errors: SEND_SMS_ERRORS,
    replacedBy: 'tfa.sendSms',
  },
  'tfa.testSubmit': {
    ...confirmOperation,
    path: '/api/v0/tfa/test-submit/',
    summary: 'Deprecated: adds a method',
    description: 'A legacy 2FA user gets untracked_2fa_found: regenerate the backup codes first.',
    errors: [...confirmOperation.errors, 'untracked_2fa_found'],
    replacedBy: 'tfa.confirmNew',
  },
  'tfa.resend': {
    ...smsOperation,
    path: '/api/v0/tfa/resend/',
    summary: 'Deprecated: sends the code by SMS once more',
    errors: RESEND_SMS_ERRORS,
    replacedBy: 'tfa.resendSms',
  },
} as const satisfies OperationTable;
