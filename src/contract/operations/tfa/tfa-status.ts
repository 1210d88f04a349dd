/** The status of second factors (§2.4), loaded without the other 2FA operations. */
import * as z from 'zod';
import { INTERFACE, type OperationTable } from '../../define.ts';
import { id, openEnum, timestamp } from '../../schemas.ts';

export const STORED_TFA_METHODS = ['sms', 'totp'] as const;
export type StoredTfaMethod = (typeof STORED_TFA_METHODS)[number];

export const tfaMethod = z.looseObject({
  id,
  user_id: id.optional(),
  method: openEnum(STORED_TFA_METHODS),
  label: z.string().nullish(),
  phone_number: z.string().nullish().describe('SMS only; masked but for the last 4 digits'),
  is_primary: z.boolean().optional(),
  fail_count: z.int().optional(),
  locked_until: timestamp.nullish().describe('when the lock ends; null when not locked'),
  created_at: timestamp.optional(),
  last_used: timestamp.nullish(),
});
export type TfaMethod = z.output<typeof tfaMethod>;

export const EXAMPLE_METHOD = {
  id: 1,
  user_id: 7,
  method: 'totp',
  label: 'phone app',
  is_primary: true,
  fail_count: 0,
  locked_until: null,
  created_at: 1_780_000_000,
  last_used: 1_789_000_000,
};

export const TFA = { ...INTERFACE, source: '§4.4' } as const;

export const tfaStatusOperations = {
  'tfa.status': {
    ...TFA,
    method: 'GET',
    path: '/api/v0/tfa/status/',
    summary: "Show the account's second factors, and how many backup codes remain",
    description: 'tfa_enabled does not tell enabled from legacy; tfa_status of the user object does.',
    response: z.looseObject({
      success: z.boolean().optional(),
      tfa_enabled: z.boolean().optional(),
      methods: z.array(tfaMethod),
      backup_codes_remaining: z.int().optional(),
      new_method_authorized: z.boolean().optional(),
    }),
    errors: ['team_user_forbidden'],
    repeatable: true,
    publicSpacingMs: 1000,
    example: {
      input: {},
      response: {
        success: true,
        tfa_enabled: true,
        methods: [EXAMPLE_METHOD],
        backup_codes_remaining: 8,
        new_method_authorized: false,
      },
    },
  },
} as const satisfies OperationTable;
