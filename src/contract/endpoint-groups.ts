/** The parameters of an endpoint group, with the defaults of §2.7: the one table that all else reads. */
import { z } from 'zod';
import { LIMITS } from './limits.ts';

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

/**
 * What the create operation takes (§2.7). Only types and the limits that the document states live here; what
 * is allowed but unwise is in src/scaling.
 */
export const endpointGroupParameters = z.strictObject({
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
});
export type EndpointGroupParameters = z.output<typeof endpointGroupParameters>;
export type EndpointGroupParameter = keyof EndpointGroupParameters;
export const ENDPOINT_GROUP_PARAMETERS = Object.keys(
  endpointGroupParameters.shape,
) as EndpointGroupParameter[];
