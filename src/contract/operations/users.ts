import * as z from 'zod';
import { INTERFACE, type OperationTable } from '../define.ts';
import { id, openEnum, timestamp } from '../schemas.ts';

/** §2.4 */
export const TFA_STATUSES = ['enabled', 'disabled', 'legacy'] as const;

export const user = z.looseObject({
  id: id.optional(),
  tfa_status: openEnum(TFA_STATUSES).optional(),
  email_verified_at: timestamp.nullish().describe('null while the e-mail address is unverified'),
  is_admin: z.boolean().optional(),
});
export type User = z.output<typeof user>;

export const userOperations = {
  'users.current': {
    ...INTERFACE,
    method: 'GET',
    path: '/api/v0/users/current/',
    source: '§4.3',
    summary: 'Show the user that the key belongs to',
    response: user,
    repeatable: true,
    example: {
      input: {},
      response: { id: 7, tfa_status: 'enabled', email_verified_at: 1_780_000_000, is_admin: false },
    },
  },
} as const satisfies OperationTable;
