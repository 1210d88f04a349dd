/** Users (§2.4) and team roles (§2.6). */
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

export const teamOperations = {
  'teams.createRole': {
    ...INTERFACE,
    method: 'POST',
    path: '/api/v0/team/roles',
    source: '§4.5',
    summary: 'Create a custom role for the current team',
    description: 'The current team is the one in whose context the key acts; names are unique within it.',
    body: z.strictObject({
      name: z.string().min(1).describe('role name'),
      permissions: z
        .record(z.string(), z.boolean())
        .describe('permission flags; an empty object is accepted'),
    }),
    response: z.looseObject({ msg: z.string().optional() }),
    errors: ['team_required', 'duplicate_role'],
    example: {
      input: { name: 'operators', permissions: { manage_instances: true } },
      response: { msg: 'Role created' },
    },
  },
} as const satisfies OperationTable;
