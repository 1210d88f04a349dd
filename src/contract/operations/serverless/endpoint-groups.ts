/** The parameters of an endpoint group, with the defaults of §2.7. */
import * as z from 'zod';
import { PUBLIC_DIALECT, PUBLIC_READ, type OperationTable } from '../../define.ts';
import { LIMITS } from '../../limits.ts';
import { byId, id, success, timestamp, workersDeleted } from '../../schemas.ts';

/** Defaults of §2.7. `endpoint_name` and `inactivity_timeout` have none. */
export const ENDPOINT_GROUP_DEFAULTS = {
  min_load: 0.0,
  min_cold_load: 0.0,
  target_util: 0.9,
  cold_mult: 2.5,
  cold_workers: 5,
  max_workers: 20,
  max_queue_time: 30.0,
  target_queue_time: 10.0,
} as const;

/** src/scaling warns of values that are allowed but unwise. */
const parameters = {
  min_load: z.number().nonnegative().optional(),
  min_cold_load: z.number().nonnegative().optional(),
  target_util: z.number().gt(0).max(LIMITS.targetUtilMax).optional(),
  cold_mult: z.number().nonnegative().optional(),
  cold_workers: z.int().nonnegative().optional(),
  max_workers: z.int().min(1).optional(),
  endpoint_name: z.string().min(1).optional(),
  max_queue_time: z.number().nonnegative().optional(),
  target_queue_time: z.number().nonnegative().optional(),
  inactivity_timeout: z.int().optional(),
};
export type EndpointGroupParameter = keyof typeof parameters;
export const ENDPOINT_GROUP_PARAMETERS = Object.keys(parameters) as EndpointGroupParameter[];

export const MEANINGS: Readonly<Record<EndpointGroupParameter, string>> = {
  min_load:
    'the load, in units of work a second, that hot workers are kept ready for even when nothing arrives; 0 keeps none',
  min_cold_load:
    'the load, in units of work a second, that hot and cold (stopped) workers can carry together even when nothing arrives; 0 keeps none',
  target_util: 'how busy the hot workers should be: 0.9 keeps a tenth of their capacity free for peaks',
  cold_mult:
    'how much hot and cold (stopped) workers can carry together, as a multiple of what should be hot: 2 keeps as much again in reserve',
  cold_workers:
    'how many workers there are at least, cold (stopped, quick to start) unless load keeps them hot',
  max_workers: 'how many workers there are at most, hot and cold together; it bounds what the group can cost',
  endpoint_name: 'the name of the endpoint that the group serves; several groups may share one',
  max_queue_time:
    'how many seconds of requests may wait on one worker; further ones wait until a worker has room',
  target_queue_time: 'how many seconds a request may have to wait before the group asks for more workers',
  inactivity_timeout:
    'how many seconds without a request pass before the last hot worker may be stopped; the next request then waits for a start',
};

/** Each default stands in its schema, for help and OpenAPI document. */
export const endpointGroupParameters = z.strictObject(described(ENDPOINT_GROUP_DEFAULTS));
const endpointGroupChanges = z.strictObject(described({}));
/** The parameters of an endpoint group (§2.7). Times in seconds, loads in work units a second. */
export type EndpointGroupParameters = z.output<typeof endpointGroupParameters>;

/** `suspended`: workers go on and are billed; none is recruited or released. */
export const ENDPOINT_STATES = ['active', 'suspended', 'stopped'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

const further = {
  endpoint_state: z
    .enum(ENDPOINT_STATES)
    .optional()
    .describe('stopped: its workers stop; suspended: they go on, and none is recruited or released'),
  overrecruit_ratio: z
    .number()
    .positive()
    .optional()
    .describe('how many more workers to recruit than wanted'),
  autoscaler_instance: z.string().optional().describe("environment of the service's engine, such as prod"),
};
export const endpointGroupSettings = endpointGroupParameters.extend(further);
export type EndpointSettings = Pick<
  z.output<z.ZodObject<typeof further>>,
  'overrecruit_ratio' | 'autoscaler_instance'
>;

export const endpointGroup = z.looseObject({
  id,
  endpoint_name: z.string().nullish(),
  endpoint_state: z
    .string()
    .nullish()
    .describe(`${ENDPOINT_STATES.join(', ')}, or a newer one`),
  api_key: z.string().meta({ format: 'password' }).nullish().describe('its own, for the serverless address'),
  created_at: timestamp.nullish(),
});
export type EndpointGroup = z.output<typeof endpointGroup>;

const group = { ...byId('endpoint group'), path: '/api/v0/endptjobs/{id}/' } as const;

/** Paths and answers are the public dialect's. */
const source = '§2.7, public dialect';
const shared = { ...PUBLIC_DIALECT, source } as const;
const read = { ...PUBLIC_READ, source } as const;

export const endpointGroupOperations = {
  'endpointGroups.create': {
    ...shared,
    method: 'POST',
    path: '/api/v0/endptjobs/',
    summary: 'Create an endpoint group with autoscaling parameters',
    body: endpointGroupSettings,
    response: success.extend({ result: id.describe('the new group id') }),
    publicSpacingMs: 4000,
    example: {
      input: { endpoint_name: 'talk', target_util: 0.9, max_workers: 20 },
      response: { success: true, result: 32 },
    },
  },
  'endpointGroups.list': {
    ...read,
    path: '/api/v0/endptjobs/',
    summary: 'List the endpoint groups of the account',
    response: z.looseObject({ results: z.array(endpointGroup) }),
    otherWords: [{ says: /^no endpoints for user \d+ found/i, means: () => ({ results: [] }) }],
    publicSpacingMs: 3000,
    example: { input: {}, response: { success: true, results: [{ id: 31, endpoint_name: 'chat' }] } },
  },
  'endpointGroups.get': {
    ...read,
    summary: 'Show an endpoint group',
    ...group,
    response: z.looseObject({ result: endpointGroup }),
    publicSpacingMs: 2000,
    example: {
      input: { id: 31 },
      response: { success: true, result: { id: 31, endpoint_name: 'chat', endpoint_state: 'active' } },
    },
  },
  'endpointGroups.update': {
    ...shared,
    method: 'PUT',
    summary: 'Change parameters of an endpoint group, or its state',
    description:
      'A service may reset the parameters that are left out. The command reads them and sends them along, which --dry-run does not show.',
    ...group,
    body: endpointGroupChanges.extend(further),
    response: success,
    otherWords: [{ says: /^endpoint \d+ for user \d+ not found/i, means: 'not-found' }],
    repeatable: true,
    publicSpacingMs: 2000,
    example: { input: { id: 31, target_util: 0.8 }, response: { success: true } },
  },
  'endpointGroups.delete': {
    ...shared,
    method: 'DELETE',
    summary: 'Delete an endpoint group with its worker groups and workers',
    ...group,
    response: success.extend(workersDeleted),
    repeatable: true,
    publicSpacingMs: 3000,
    example: { input: { id: 31 }, response: { success: true } },
  },
} as const satisfies OperationTable;

function described(defaults: Partial<Record<EndpointGroupParameter, number>>): typeof parameters {
  const entries = ENDPOINT_GROUP_PARAMETERS.map((name) => {
    const byDefault = defaults[name] === undefined ? {} : { default: defaults[name] };
    return [name, parameters[name].meta({ description: MEANINGS[name], ...byDefault })];
  });
  return Object.fromEntries(entries) as typeof parameters;
}
