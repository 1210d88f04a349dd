/** The parameters of an endpoint group, with the defaults of §2.7: the one table that all else reads. */
import * as z from 'zod';
import { PUBLIC_DIALECT, PUBLIC_READ, type OperationTable } from '../../define.ts';
import { LIMITS } from '../../limits.ts';
import { id, success, timestamp } from '../../schemas.ts';

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

/** The parameters of §2.7. Only types and the limits that the interface states live here; what is allowed but unwise is in src/scaling. */
const parameters = {
  min_load: z.number().nonnegative().optional().describe('minimum floor load, performance units per second'),
  min_cold_load: z
    .number()
    .nonnegative()
    .optional()
    .describe('the same floor, but cold workers may serve it'),
  target_util: z
    .number()
    .gt(0)
    .max(LIMITS.targetUtilMax)
    .optional()
    .describe('target capacity utilization, a fraction, at most 1.0'),
  cold_mult: z
    .number()
    .nonnegative()
    .optional()
    .describe('cold capacity target as a multiple of the hot target'),
  cold_workers: z.int().nonnegative().optional().describe('workers kept cold when there is no load'),
  max_workers: z.int().min(1).optional().describe('most workers in the group'),
  endpoint_name: z.string().min(1).optional().describe('name of the endpoint; several groups may share one'),
  max_queue_time: z
    .number()
    .nonnegative()
    .optional()
    .describe('most seconds a request may queue on a worker'),
  target_queue_time: z.number().nonnegative().optional().describe('seconds in which the queue should clear'),
  inactivity_timeout: z
    .int()
    .optional()
    .describe('seconds without traffic before the endpoint may scale to zero active workers'),
};

/** What the create operation takes: each default stands in its schema, for help and OpenAPI document to say. */
export const endpointGroupParameters = z.strictObject(withDefaults(parameters));
/** What an update takes: a parameter that is not sent stays as it is, so that none has a default. */
export const endpointGroupChanges = z.strictObject(parameters);
/**
 * The parameters of an endpoint group (§2.7); each may be left out. Times in seconds, loads in work units a
 * second.
 */
export type EndpointGroupParameters = z.output<typeof endpointGroupParameters>;
export type EndpointGroupParameter = keyof EndpointGroupParameters;
export const ENDPOINT_GROUP_PARAMETERS = Object.keys(
  endpointGroupParameters.shape,
) as EndpointGroupParameter[];

/**
 * `active`: the engine recruits and releases workers. `suspended`: it does neither, and workers go on, and are billed.
 * `stopped`: all workers are inactive.
 */
export const ENDPOINT_STATES = ['active', 'suspended', 'stopped'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** What the public service takes beside the parameters. */
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
/** All that a new one takes. */
export const endpointGroupSettings = endpointGroupParameters.extend(further);
export type EndpointSettings = Pick<
  z.output<z.ZodObject<typeof further>>,
  'overrecruit_ratio' | 'autoscaler_instance'
>;

/** A stored endpoint group; the public service adds fields and may answer null where a value is unset. */
export const endpointGroup = z.looseObject({
  id,
  endpoint_name: z.string().nullish(),
  endpoint_state: z
    .string()
    .nullish()
    .describe(`${ENDPOINT_STATES.join(', ')}, or one that is new`),
  api_key: z.string().meta({ format: 'password' }).nullish().describe('its own, for the serverless address'),
  created_at: timestamp.nullish(),
});
export type EndpointGroup = z.output<typeof endpointGroup>;

const groupId = z.strictObject({ id: id.describe('endpoint group id') });

/** The interface states the parameters and not the path; paths and answers are the public dialect's. */
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
    path: '/api/v0/endptjobs/{id}/',
    summary: 'Show an endpoint group',
    params: groupId,
    response: z.looseObject({ result: endpointGroup }),
    errors: ['not_found'],
    publicSpacingMs: 2000,
    example: {
      input: { id: 31 },
      response: { success: true, result: { id: 31, endpoint_name: 'chat', endpoint_state: 'active' } },
    },
  },
  'endpointGroups.update': {
    ...shared,
    method: 'PUT',
    path: '/api/v0/endptjobs/{id}/',
    summary: 'Change parameters of an endpoint group, or its state',
    params: groupId,
    body: endpointGroupChanges.extend(further),
    response: success,
    otherWords: [{ says: /^endpoint \d+ for user \d+ not found/i, means: 'not-found' }],
    errors: ['not_found'],
    repeatable: true,
    publicSpacingMs: 2000,
    example: { input: { id: 31, target_util: 0.8 }, response: { success: true } },
  },
  'endpointGroups.delete': {
    ...shared,
    method: 'DELETE',
    path: '/api/v0/endptjobs/{id}/',
    summary: 'Delete an endpoint group with its worker groups and workers',
    params: groupId,
    response: success.extend({
      deleted_workers: z.unknown().optional(),
      failed_workers: z.unknown().optional(),
      msg: z.string().nullish(),
    }),
    errors: ['not_found'],
    repeatable: true,
    publicSpacingMs: 3000,
    example: { input: { id: 31 }, response: { success: true } },
  },
} as const satisfies OperationTable;

function withDefaults<Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape): Shape {
  const defaults: Readonly<Record<string, number>> = ENDPOINT_GROUP_DEFAULTS;
  const entries = Object.entries(shape).map(([name, schema]) => [
    name,
    name in defaults ? schema.meta({ default: defaults[name] }) : schema,
  ]);
  return Object.fromEntries(entries) as Shape;
}
