/** Two-factor authentication (§4.4), with the verification matrix of §5.7 on each row. */
import * as z from 'zod';
import { INTERFACE, type OperationTable } from '../../define.ts';
import { CODE_OR_BACKUP_CODE, METHOD_OR_ITS_ID, TARGET_OF_BACKUP_CODE } from '../../rules.ts';
import { id, shownOnce } from '../../schemas.ts';
import {
  method,
  code,
  secret,
  methodId,
  backupCode,
  label,
  proof,
  LOGIN,
  LOGIN_ERRORS,
  CHANGES,
  done,
  said,
  sent,
  backupCodes,
  METHOD_ERRORS,
  PROOF_ERRORS,
  SMS_ERRORS,
  SEND_SMS_ERRORS,
  RESEND_SMS_ERRORS,
  BACKUP_CODES_EXAMPLE,
  smsOperation,
  confirmOperation,
} from './tfa-fields.ts';
import { STORED_TFA_METHODS, tfaMethod, tfaStatusOperations } from './tfa-status.ts';
import { user } from '../users.ts';

export const tfaOperations = {
  ...tfaStatusOperations,
  'tfa.login': {
    ...INTERFACE,
    method: 'POST',
    path: '/api/v0/tfa/',
    source: '§4.4',
    summary: 'Completes a login with a second factor',
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
    repeatable: false,
    example: {
      input: { tfa_method: 'totp', code: '123456' },
      response: { id: 7, tfa_status: 'enabled', email_verified_at: 1_780_000_000, session_key: 'session' },
    },
  },
  'tfa.remove': {
    ...INTERFACE,
    method: 'DELETE',
    path: '/api/v0/tfa/',
    source: '§4.4',
    summary: 'Removes a second factor; with the last one, 2FA itself',
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
    repeatable: false,
    example: {
      input: { backup_code: 'A1B2-C3D4-E5F6', target_id: 1 },
      response: { msg: '2FA method removed', remaining_methods: 1 },
    },
  },
  'tfa.sendEmail': {
    ...INTERFACE,
    method: 'POST',
    path: '/api/v0/tfa/email/',
    source: '§4.4',
    summary: 'Sends a code to the verified e-mail address',
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
    ...INTERFACE,
    method: 'POST',
    path: '/api/v0/tfa/totp-setup/',
    source: '§4.4',
    summary: 'A new TOTP secret for an authenticator app; adds nothing yet',
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
    ...INTERFACE,
    method: 'POST',
    path: '/api/v0/tfa/authorize-new-method/',
    source: '§4.4',
    summary: 'Step 1 of adding a method: sends a code, or takes a backup code',
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
    repeatable: false,
    example: { input: { tfa_method: 'email' }, response: { success: true, secret: 'b1946ac9' } },
  },
  'tfa.confirmAuthorization': {
    ...INTERFACE,
    method: 'PUT',
    path: '/api/v0/tfa/authorize-new-method/',
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
    ...INTERFACE,
    method: 'PUT',
    path: '/api/v0/tfa/update/',
    source: '§4.4',
    summary: 'Changes the label of a method, or makes it the primary one',
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
    ...INTERFACE,
    method: 'PUT',
    path: '/api/v0/tfa/regen-backup-codes/',
    source: '§4.4',
    summary: 'A fresh set of 10 backup codes, shown once; all earlier ones stop working',
    verification: CHANGES,
    body: z.strictObject(proof),
    rules: [CODE_OR_BACKUP_CODE],
    response: said.extend({ backup_codes: backupCodes }),
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
