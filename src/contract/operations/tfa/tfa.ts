/** Two-factor authentication (§4.4), with the verification matrix of §5.7 on each row. */
import * as z from 'zod';
import {
  CODE_OR_BACKUP_CODE,
  METHOD_OR_ITS_ID,
  NUMBER_OF_SMS,
  TARGET_OF_BACKUP_CODE,
  type OperationTable,
  type Verification,
} from '../../define.ts';
import { LIMITS } from '../../limits.ts';
import { id, phoneNumber, secretText, shownOnce, success, textUpTo } from '../../schemas.ts';
import { user } from '../users.ts';
import { EXAMPLE_METHOD, STORED_TFA_METHODS, TFA, tfaMethod, tfaStatusOperations } from './tfa-status.ts';

/** E-mail is never stored as a method. */
export const TFA_METHODS = ['sms', 'totp', 'email'] as const;
export type TfaMethodName = (typeof TFA_METHODS)[number];

/** §2.4 does not say which characters. */
export const BACKUP_CODE = /^[^\s-]{4}-[^\s-]{4}-[^\s-]{4}$/;

const method = z.enum(TFA_METHODS).optional();
const code = z
  .string()
  .regex(/^\d{6}$/, 'a code has 6 digits')
  .meta({ format: 'password' })
  .describe('6 digits');
const secret = secretText.describe('tfa_secret from the call that sent the code');
const methodId = id.describe('needed when several methods of the same type exist');
const backupCode = z
  .string()
  .regex(BACKUP_CODE, 'a backup code is three groups of four characters, such as A1B2-C3D4-E5F6')
  .meta({ format: 'password' })
  .describe('one-time backup code; makes the other fields unnecessary');
const label = textUpTo(LIMITS.methodLabelLength).describe('a name of your own for the method');

const proof = {
  tfa_method: method.meta({ default: 'sms', description: 'not needed with backup_code' }),
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
const msg = z.string().optional();
const said = z.looseObject({ msg });
const sent = said.extend({ secret: z.string().optional() });
const done = success.extend({ msg });
/** The format is not enforced: codes that are shown once must not get lost. */
const backupCodes = shownOnce(
  z.array(z.string().min(1).meta({ pattern: BACKUP_CODE.source })).meta({
    description: 'plaintext; shown once',
    minItems: LIMITS.backupCodesPerSet,
    maxItems: LIMITS.backupCodesPerSet,
  }),
);

const confirmBody = z.strictObject({
  tfa_method: z.enum(STORED_TFA_METHODS).describe('method to add'),
  code,
  secret: secretText.describe('sms: tfa_secret of the challenge; totp: the base32 secret of totp-setup'),
  phone_number: phoneNumber.optional().describe('sms only'),
  label: label.optional(),
});

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

const METHOD_ERRORS = [...CHALLENGE_ERRORS, 'tfa_locked', 'tfa_method_not_configured', 'not_found'] as const;

const PROOF_ERRORS = [...METHOD_ERRORS, 'missing_auth_value', 'invalid_backup_code'] as const;

/** A login has a code of its own for a wrong code. */
const LOGIN_ERRORS = [
  ...PROOF_ERRORS.filter((error) => error !== '2fa_verification_failed'),
  '2fa_login_failed',
] as const;

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

const POST = { ...TFA, method: 'POST' } as const;
const PUT = { ...TFA, method: 'PUT' } as const;

const smsOperation = {
  ...POST,
  verification: SENDS_CODE,
  body: sms,
  response: sent,
  example: { input: { phone_number: '+15551234567' }, response: { msg: 'Code sent', secret: 'b1946ac9' } },
} as const;

const confirmOperation = {
  ...POST,
  verification: { secretAlone: false, secret: 'always' } satisfies Verification,
  body: confirmBody,
  rules: [NUMBER_OF_SMS],
  response: done.extend({ backup_codes: backupCodes.optional() }),
  errors: [
    ...CHALLENGE_ERRORS,
    'authorization_required',
    'duplicate_tfa_method',
    'missing_phone_number',
    'service_unavailable',
  ],
  example: {
    input: { tfa_method: 'totp', code: '123456', secret: 'JBSWY3DPEHPK3PXP', label: 'phone app' },
    response: { success: true, msg: 'TOTP method added', backup_codes: BACKUP_CODES_EXAMPLE },
  },
} as const;

export const tfaOperations = {
  ...tfaStatusOperations,
  'tfa.login': {
    ...POST,
    path: '/api/v0/tfa/',
    summary: 'Complete a login with a second factor',
    description:
      'With an API key as Bearer the answer has session_key, the Bearer value to use from then on. Without one, the session comes by cookie or header.',
    verification: LOGIN,
    body: z.strictObject({
      ...proof,
      admin: z.boolean().optional().meta({ default: false, description: 'request an admin session' }),
    }),
    rules: [CODE_OR_BACKUP_CODE],
    response: user.extend({
      id: id.optional(),
      session_key: shownOnce(z.string().min(1)).optional(),
      backup_codes_remaining: z
        .int()
        .optional()
        .describe('only after a backup code, and only while any remain'),
      legacy_tfa_user: z.boolean().optional(),
    }),
    errors: LOGIN_ERRORS,
    example: {
      input: { tfa_method: 'totp', code: '123456' },
      response: { id: 7, tfa_status: 'enabled', email_verified_at: 1_780_000_000, session_key: 'session' },
    },
  },
  'tfa.remove': {
    ...TFA,
    method: 'DELETE',
    path: '/api/v0/tfa/',
    summary: 'Remove a second factor; with the last one, 2FA itself',
    verification: CHANGES,
    body: z.strictObject({
      ...proof,
      target_id: id
        .optional()
        .describe('method to remove; needed with backup_code, else the one that verified'),
    }),
    rules: [CODE_OR_BACKUP_CODE, TARGET_OF_BACKUP_CODE],
    response: said.extend({
      remaining_methods: z
        .union([z.int(), z.array(z.unknown()), z.string().regex(/\D/), z.null()])
        .optional()
        .describe('how many, or which; absent where the last one was removed'),
    }),
    errors: PROOF_ERRORS,
    example: {
      input: { backup_code: 'A1B2-C3D4-E5F6', target_id: 1 },
      response: { msg: '2FA method removed', remaining_methods: 1 },
    },
  },
  'tfa.sendEmail': {
    ...POST,
    path: '/api/v0/tfa/email/',
    summary: 'Send a code to the verified e-mail address',
    description: 'With an API key and no secret, every call makes a fresh challenge and secret.',
    verification: { secretAlone: true, secret: 'never' },
    body: z.strictObject({ secret: secret.optional() }),
    response: sent.extend({ success: z.boolean().optional() }),
    errors: [
      'missing_auth_value',
      'email_not_verified',
      'missing_email',
      'challenge_not_found',
      '2fa_expired',
      'team_user_forbidden',
    ],
    example: { input: {}, response: { success: true, msg: 'Code sent', secret: 'b1946ac9' } },
  },
  'tfa.sendSms': {
    ...smsOperation,
    path: '/api/v0/tfa/sms/',
    summary: 'Send a code by SMS',
    errors: SEND_SMS_ERRORS,
  },
  'tfa.resendSms': {
    ...smsOperation,
    path: '/api/v0/tfa/sms/resend/',
    summary: 'Send the code by SMS once more',
    description:
      'phone_number must be that of the original challenge. With an API key and no secret, a new secret is returned.',
    errors: RESEND_SMS_ERRORS,
  },
  'tfa.setupTotp': {
    ...POST,
    path: '/api/v0/tfa/totp-setup/',
    summary: 'Make a TOTP secret for an authenticator app; it adds nothing yet',
    response: z.looseObject({
      secret: shownOnce(z.string().min(1)).describe('base32'),
      provisioning_uri: z.string().optional().describe('otpauth URI'),
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
    ...POST,
    path: '/api/v0/tfa/authorize-new-method/',
    summary: 'Begin to add a method: send a code, or take a backup code (step 1)',
    description: 'A user with no methods is forced to email. A backup code opens the window at once.',
    body: z.strictObject({
      tfa_method: method.describe('unnecessary with backup_code or an unambiguous tfa_method_id'),
      tfa_method_id: methodId.optional(),
      backup_code: backupCode.optional(),
    }),
    response: sent.extend({ success: z.boolean().optional() }),
    errors: [
      ...SMS_ERRORS,
      'missing_email',
      'invalid_backup_code',
      'tfa_locked',
      'tfa_method_not_configured',
      'challenge_creation_failed',
      'service_unavailable',
    ],
    example: { input: { tfa_method: 'email' }, response: { success: true, secret: 'b1946ac9' } },
  },
  'tfa.confirmAuthorization': {
    ...PUT,
    path: '/api/v0/tfa/authorize-new-method/',
    summary: 'Open the 30-minute window in which a method can be added (step 2)',
    verification: { secretAlone: false, secret: 'always' },
    body: z.strictObject({ code, secret }),
    response: done,
    errors: [...METHOD_ERRORS, 'no_pending_authorization', 'service_unavailable'],
    example: {
      input: { code: '123456', secret: 'b1946ac9' },
      response: { success: true, msg: 'Authorization successful.' },
    },
  },
  'tfa.confirmNew': {
    ...confirmOperation,
    path: '/api/v0/tfa/confirm-new/',
    summary: 'Add a method; the first one comes with 10 backup codes, shown once',
  },
  'tfa.update': {
    ...PUT,
    path: '/api/v0/tfa/update/',
    summary: 'Change the label of a method, or make it the primary one',
    body: z.strictObject({
      tfa_method_id: methodId.optional(),
      tfa_method: z.enum(STORED_TFA_METHODS).optional().describe('when exactly one method is of that type'),
      label: label.optional(),
      is_primary: z.boolean().optional().describe('whether it is the primary method'),
    }),
    rules: [METHOD_OR_ITS_ID],
    response: done.extend({ method: tfaMethod.optional() }),
    errors: ['invalid_tfa_method', 'not_found', 'team_user_forbidden'],
    repeatable: true,
    example: {
      input: { tfa_method_id: 1, label: 'work phone', is_primary: true },
      response: {
        success: true,
        msg: 'Method updated',
        method: { ...EXAMPLE_METHOD, label: 'work phone', last_used: null },
      },
    },
  },
  'tfa.regenerateBackupCodes': {
    ...PUT,
    path: '/api/v0/tfa/regen-backup-codes/',
    summary: 'Make 10 new backup codes, shown once; all earlier ones stop working',
    verification: CHANGES,
    body: z.strictObject(proof),
    rules: [CODE_OR_BACKUP_CODE],
    response: said.extend({ backup_codes: backupCodes }),
    errors: [...PROOF_ERRORS, 'missing_phone_number'],
    example: {
      input: { tfa_method: 'totp', code: '123456' },
      response: { msg: 'Backup codes regenerated', backup_codes: BACKUP_CODES_EXAMPLE },
    },
  },
  'tfa.test': {
    ...smsOperation,
    path: '/api/v0/tfa/test/',
    summary: 'Deprecated: send a code by SMS',
    errors: SEND_SMS_ERRORS,
    replacedBy: 'tfa.sendSms',
  },
  'tfa.testSubmit': {
    ...confirmOperation,
    path: '/api/v0/tfa/test-submit/',
    summary: 'Deprecated: add a method',
    description: 'A legacy 2FA user gets untracked_2fa_found: regenerate the backup codes first.',
    errors: [...confirmOperation.errors, 'untracked_2fa_found'],
    replacedBy: 'tfa.confirmNew',
  },
  'tfa.resend': {
    ...smsOperation,
    path: '/api/v0/tfa/resend/',
    summary: 'Deprecated: send the code by SMS once more',
    errors: RESEND_SMS_ERRORS,
    replacedBy: 'tfa.resendSms',
  },
} as const satisfies OperationTable;
