/** API keys (§2.5). The interface shows no paths; these are the public dialect's. */
import * as z from 'zod';
import { PUBLIC_DIALECT, PUBLIC_READ, type OperationTable } from '../define.ts';
import { byId, id, permissions, shownOnce, success } from '../schemas.ts';

export const apiKey = z.looseObject({
  id,
  name: z.string().nullish(),
  permissions: permissions.nullish(),
  key_type: z.string().nullish().describe('api, or another kind'),
  user_id: id.nullish(),
});
export type ApiKey = z.output<typeof apiKey>;

/** The public service may answer a deletion with a bare JSON string. */
const deleted = z.preprocess(
  (body) => (typeof body === 'string' && body !== '' ? { success: true, msg: body } : body),
  success.extend({ msg: z.string().optional() }),
);

const source = '§2.5, public dialect';
const keys = { ...PUBLIC_DIALECT, source } as const;

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
    path: '/api/v0/auth/apikeys/{id}/',
    summary: 'Show a key of the account, without its value',
    ...byId('key'),
    response: apiKey,
    example: { input: { id: 2 }, response: { success: true, id: 2, name: 'team', permissions: null } },
  },
  'apiKeys.delete': {
    ...keys,
    method: 'DELETE',
    path: '/api/v0/auth/apikeys/{id}/',
    summary: 'Revoke a key: requests with it get 401 from then on',
    ...byId('key'),
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
