/** Users (§2.4), team roles (§2.6), and API keys (§2.5): the interface shows no paths of the latter. */
import * as z from 'zod';
import { INTERFACE, PUBLIC_DIALECT, PUBLIC_READ, type OperationTable } from '../define.ts';
import { id, openEnum, timestamp, byId, permissions, shownOnce, success } from '../schemas.ts';

/** §2.4 */
export const TFA_STATUSES = ['enabled', 'disabled', 'legacy'] as const;

export const user = z.looseObject({
  id: id.optional(),
  tfa_status: openEnum(TFA_STATUSES).optional(),
  email_verified_at: timestamp.nullish().describe('null while the e-mail address is unverified'),
  is_admin: z.boolean().optional(),
});

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
      permissions: permissions.describe('permission flags; an empty object is accepted'),
    }),
    response: z.looseObject({ msg: z.string().optional() }),
    errors: ['team_required', 'duplicate_role'],
    example: {
      input: { name: 'operators', permissions: { manage_instances: true } },
      response: { msg: 'Role created' },
    },
  },
} as const satisfies OperationTable;

export const apiKey = z.looseObject({
  id,
  name: z.string().nullish(),
  permissions: permissions.nullish(),
  key_type: z.string().nullish().describe('api, or another kind'),
  user_id: id.nullish(),
});

/** The public service may answer a deletion with a bare JSON string. */
const deleted = z.preprocess(
  (body) => (typeof body === 'string' && body !== '' ? { success: true, msg: body } : body),
  success.extend({ msg: z.string().optional() }),
);

const source = '§2.5, public dialect';
const keys = { ...PUBLIC_DIALECT, source } as const;

const one = { ...byId('key'), path: '/api/v0/auth/apikeys/{id}/' } as const;

export const apiKeyOperations = {
  'apiKeys.create': {
    ...keys,
    method: 'POST',
    path: '/api/v0/auth/apikeys/',
    summary: 'Create a key; its value is shown once',
    body: z.strictObject({
      name: z.string().min(1).describe('for identification only'),
      permissions: permissions.optional().describe('default: full access'),
    }),
    response: z.looseObject({ id: id.optional(), key: shownOnce(z.string().min(1)) }),
    example: {
      input: { name: 'sidecar', permissions: { api: { instance_write: {} } } },
      response: { success: true, id: 3, key: 'shown-once' },
    },
  },
  'apiKeys.list': {
    ...PUBLIC_READ,
    path: '/api/v0/auth/apikeys/',
    source,
    summary: 'List the keys of the account, without their values',
    response: z.looseObject({ apikeys: z.array(apiKey) }),
    example: { input: {}, response: { apikeys: [{ id: 3, name: 'sidecar', permissions: {} }] } },
  },
  'apiKeys.get': {
    ...PUBLIC_READ,
    summary: 'Show a key of the account, without its value',
    ...one,
    response: apiKey,
    example: { input: { id: 2 }, response: { success: true, id: 2, name: 'team', permissions: null } },
  },
  'apiKeys.delete': {
    ...keys,
    method: 'DELETE',
    summary: 'Revoke a key: requests with it get 401 from then on',
    ...one,
    response: deleted,
    repeatable: true,
    example: { input: { id: 2 }, response: { success: true } },
  },
  'apiKeys.reset': {
    ...keys,
    method: 'PUT',
    path: '/api/v0/commands/reset_apikey/',
    summary: 'Give the calling key a new value; the old one stops working at once',
    response: z.looseObject({ new_api_key: shownOnce(z.string().min(1)) }),
    example: { input: {}, response: { success: true, new_api_key: 'shown-once' } },
  },
} as const satisfies OperationTable;
