/** 2FA in the seed file: the fields of a user, and what all accounts share; and the records made of them. */
import * as z from 'zod';
import { LIMITS } from '../../contract/limits.ts';
import { id, phoneNumber } from '../../contract/schemas.ts';
import { BACKUP_CODE } from '../../contract/operations/tfa/tfa-fields.ts';
import { createRandom, mixSeeds, type Random } from '../random.ts';
import { newBackupCodes } from '../tfa/account/backup-codes.ts';
import {
  BACKING_STORES,
  SMS_PROVIDERS,
  type TfaAccount,
  type TfaMethodRecord,
  type TfaState,
} from '../state/two-factor.ts';
import { newTotpSecret } from '../tfa/account/totp.ts';

const method = z.strictObject({
  id,
  method: z.enum(['sms', 'totp']),
  label: z.string().max(LIMITS.methodLabelLength).optional(),
  phone_number: z.string().optional().describe('E.164; shown masked'),
  totp_secret: z
    .string()
    .nullable()
    .optional()
    .describe('base32; absent: one is made up; null or no base32: tfa_method_not_configured'),
  is_primary: z.boolean().default(false),
  fail_count: z.int().nonnegative().default(0),
  locked_for: z.number().nonnegative().optional().describe('seconds from the start for which it is locked'),
});

export const tfaUserFields = {
  legacy_2fa: z
    .boolean()
    .default(false)
    .describe('2FA from before methods were stored; without meaning beside tfa_methods'),
  phone_number: phoneNumber.optional().describe('the number on file; codes of a legacy account go there'),
  sms_fraud: z.boolean().default(false).describe('flagged for SMS fraud: sms_fraud_detected'),
  tfa_methods: z.array(method).default([]),
  backup_codes: z
    .array(z.string().regex(BACKUP_CODE, 'three groups of four characters'))
    .optional()
    .describe('those that are unused'),
  backup_codes_remaining: z
    .int()
    .nonnegative()
    .default(0)
    .describe(
      'so many are made up where backup_codes is absent; /_emulator/users/{id}/backup-codes shows them',
    ),
};
const user = z.strictObject({ id, ...tfaUserFields });

export const tfaSection = z.strictObject({
  sms_provider: z
    .enum(SMS_PROVIDERS)
    .default('up')
    .describe('failing: twilio_error; rate limited: twilio_rate_limited'),
  blocked_numbers: z.array(phoneNumber).default([]).describe('high risk of SMS pumping: sms_blocked_number'),
  store: z
    .enum(BACKING_STORES)
    .default('up')
    .describe('of authorizations; read only: challenge_creation_failed; down: service_unavailable'),
});

export function accountOf(entry: z.output<typeof user>, randomSeed: number, nowMs: number): TfaAccount {
  const random = createRandom(mixSeeds(randomSeed, entry.id));
  const methods = entry.tfa_methods.map((given): TfaMethodRecord => ({
    id: given.id,
    method: given.method,
    label: given.label ?? null,
    phoneNumber: given.phone_number ?? null,
    totpSecret: given.method === 'sms' ? null : secretOf(given, random),
    isPrimary: given.is_primary,
    failCount: given.fail_count,
    lockedUntilMs: given.locked_for === undefined ? null : nowMs + given.locked_for * 1000,
    lastTotpPeriod: null,
    createdAtMs: nowMs,
    lastUsedMs: null,
  }));
  return {
    legacy: entry.legacy_2fa && methods.length === 0,
    phoneNumber: entry.phone_number ?? null,
    smsFraud: entry.sms_fraud,
    methods,
    backupCodes: entry.backup_codes ?? newBackupCodes(random, entry.backup_codes_remaining),
    authorizedUntilMs: null,
    smsSentAtMs: [],
  };
}

function secretOf({ totp_secret: given }: z.output<typeof method>, random: Random): string | null {
  return given === undefined ? newTotpSecret(random) : given;
}

export function buildTfaState(
  { sms_provider, blocked_numbers, store }: z.output<typeof tfaSection>,
  accounts: readonly TfaAccount[],
): TfaState {
  const ids = accounts.flatMap(({ methods }) => methods.map((record) => record.id));
  return {
    challenges: new Map(),
    sessions: new Map(),
    outbox: [],
    phoneUse: new Map(),
    blockedNumbers: new Set(blocked_numbers),
    smsProvider: sms_provider,
    store,
    nextMethodId: Math.max(0, ...ids) + 1,
  };
}
