/** What the operations of two-factor authentication (§4.4) share: fields, proofs, errors, and two rows that have several names. */
import * as z from 'zod';
import type { Verification } from '../../define.ts';
import { LIMITS } from '../../limits.ts';
import { textUpTo } from '../../text/characters.ts';
import { id, phoneNumber, secretText, shownOnce, success } from '../../schemas.ts';
import { NUMBER_OF_SMS } from '../../rules.ts';
import { STORED_TFA_METHODS } from './tfa-status.ts';

/** Methods that a code can be verified by. E-mail is never stored as a method. */
export const TFA_METHODS = ['sms', 'totp', 'email'] as const;
export type TfaMethodName = (typeof TFA_METHODS)[number];

/** Three groups of four characters (§2.4), which does not say of which. */
export const BACKUP_CODE = /^[^\s-]{4}-[^\s-]{4}-[^\s-]{4}$/;

export const method = z.enum(TFA_METHODS).optional();
export const code = z
  .string()
  .regex(/^\d{6}$/, 'a code has 6 digits')
  .meta({ format: 'password' })
  .describe('6 digits');
export const secret = secretText.describe('tfa_secret from the call that sent the code');
export const methodId = id.describe('needed when several methods of the same type exist');
export const backupCode = z
  .string()
  .regex(BACKUP_CODE, 'a backup code is three groups of four characters, such as A1B2-C3D4-E5F6')
  .meta({ format: 'password' })
  .describe('one-time backup code; makes the other fields unnecessary');
export const label = textUpTo(LIMITS.methodLabelLength).describe('a name of your own for the method');

/** What proves a second factor: a code (with its secret where one was sent), or a backup code. */
export const proof = {
  tfa_method: method.meta({ default: 'sms', description: 'not needed with backup_code' }),
  code: code.optional().describe('6 digits; needed unless backup_code is given'),
  secret: secret.optional().describe('tfa_secret of the code; for sms and email'),
  tfa_method_id: methodId.optional(),
  backup_code: backupCode.optional(),
};

export const LOGIN: Verification = { secretAlone: true, secret: 'for sms and email' };
const SENDS_CODE: Verification = { secretAlone: true, secret: 'without bearer' };
export const CHANGES: Verification = { secretAlone: false, secret: 'for sms and email' };

const sms = z.strictObject({
  phone_number: phoneNumber
    .optional()
    .describe('E.164; needed without tfa_method_id and without a number on the account'),
  tfa_method_id: methodId.optional(),
  secret: secret.optional().describe('needed without an API key, omitted with one'),
});
const msg = z.string().optional();
export const said = z.looseObject({ msg });
export const sent = said.extend({ secret: z.string().optional() });
export const done = success.extend({ msg });
/** Says the format and does not insist on it: codes that are shown once may not be lost over it. */
export const backupCodes = shownOnce(
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
export const METHOD_ERRORS = [
  ...CHALLENGE_ERRORS,
  'tfa_locked',
  'tfa_method_not_configured',
  'not_found',
] as const;

/** Of all that `proof` may be. */
export const PROOF_ERRORS = [...METHOD_ERRORS, 'missing_auth_value', 'invalid_backup_code'] as const;

/** Of a login, which has a code of its own for a wrong code. */
export const LOGIN_ERRORS = [
  ...PROOF_ERRORS.filter((error) => error !== '2fa_verification_failed'),
  '2fa_login_failed',
] as const;

/** Of sending an SMS. */
export const SMS_ERRORS = [
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
export const SEND_SMS_ERRORS = [...ASK_SMS_ERRORS, 'tfa_challenge_exists'] as const;
export const RESEND_SMS_ERRORS = [...ASK_SMS_ERRORS, 'no_challenge_found'] as const;

export const BACKUP_CODES_EXAMPLE = Array.from({ length: 10 }, (_, index) => `A1B2-C3D4-00${10 + index}`);

/** Of the three ways to ask for an SMS. */
export const smsOperation = {
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

/** Of the two names that adding a method has. */
export const confirmOperation = {
  method: 'POST',
  base: 'main',
  origin: 'interface',
  source: '§4.4',
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
  repeatable: false,
  example: {
    input: { tfa_method: 'totp', code: '123456', secret: 'JBSWY3DPEHPK3PXP', label: 'phone app' },
    response: { success: true, msg: 'TOTP method added', backup_codes: BACKUP_CODES_EXAMPLE },
  },
} as const;
