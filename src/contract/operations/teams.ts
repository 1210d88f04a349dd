/** Teams (§2.6, §4.5). */
import * as z from 'zod';
import { INTERFACE, type OperationTable } from '../define.ts';

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
