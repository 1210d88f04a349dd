/** Rules over values that are each valid by themselves. Each says what the problem costs, and what to do. */
import type { Rule } from './findings.ts';

export const RULES: Readonly<Record<string, Rule>> = {
  'cold-workers-above-max': {
    severity: 'error',
    parameter: 'cold_workers',
    allowed: 'at most max_workers',
    applies: ({ cold_workers, max_workers }, given) =>
      given.has('cold_workers') && given.has('max_workers') && cold_workers > max_workers,
    message: ({ cold_workers, max_workers }) =>
      `${cold_workers} workers cannot be kept cold in a group of at most ${max_workers}; lower cold_workers or raise max_workers`,
  },
  'default-cold-workers-above-max': {
    parameter: 'cold_workers',
    allowed: 'at most max_workers',
    applies: ({ cold_workers, max_workers }, given) =>
      !(given.has('cold_workers') && given.has('max_workers')) && cold_workers > max_workers,
    message: ({ cold_workers, max_workers }) =>
      `the group will hold at most ${max_workers} workers, and ${cold_workers} are to be kept cold because one of the two was left at its default; set cold_workers and max_workers together`,
  },
  'cold-workers-equal-max': {
    parameter: 'cold_workers',
    allowed: 'advised: less than max_workers',
    applies: ({ cold_workers, max_workers }) => cold_workers === max_workers,
    message: () =>
      'leaves no room for a worker that serves: the engine was seen to create and destroy one every few seconds (with 1 and 1); raise max_workers',
  },
  'target-util-no-headroom': {
    parameter: 'target_util',
    allowed: 'advised: at most 0.95',
    applies: ({ target_util }) => target_util > 0.95,
    message: () =>
      'leaves almost no spare capacity, so requests queue at every small peak until new workers are ready; 0.8 to 0.9 is usual',
  },
  'target-util-idle-capacity': {
    parameter: 'target_util',
    allowed: 'advised: at least 0.3',
    applies: ({ target_util }) => target_util < 0.3,
    message: ({ target_util }) =>
      `pays for ${Number((1 / target_util).toPrecision(2))} times the capacity that the load needs; raise it unless peaks really are that steep`,
  },
  'cold-mult-below-one': {
    parameter: 'cold_mult',
    allowed: 'advised: at least 1',
    applies: ({ cold_mult }) => cold_mult < 1,
    message: () =>
      'aims for less total capacity than the hot workers alone need, so every peak waits for workers to start from nothing; 1 keeps no reserve, 2 to 3 is usual',
  },
  'queue-target-after-limit': {
    parameter: 'target_queue_time',
    allowed: 'advised: at most max_queue_time',
    applies: ({ target_queue_time, max_queue_time }) => target_queue_time > max_queue_time,
    message: ({ target_queue_time, max_queue_time }) =>
      `the group asks for more workers only when the queue needs ${target_queue_time} s, but workers already refuse requests at ${max_queue_time} s; the public service refuses it; lower target_queue_time`,
  },
  'no-floor': {
    parameter: 'min_load',
    allowed: 'advised: a min_load, cold workers, or an inactivity_timeout',
    applies: ({ min_load, cold_workers, inactivity_timeout }) =>
      min_load === 0 && cold_workers === 0 && inactivity_timeout === undefined,
    message: () =>
      'nothing is kept ready: without load the group falls to no workers at all, and the first request waits for one to start from nothing; set cold_workers or min_load, or an inactivity_timeout if that is what you want',
  },
  'cold-floor-below-floor': {
    parameter: 'min_cold_load',
    allowed: 'advised: 0, or at least min_load',
    applies: ({ min_cold_load, min_load }, given) =>
      given.has('min_cold_load') && min_cold_load > 0 && min_cold_load < min_load,
    message: ({ min_cold_load, min_load }) =>
      `has no effect: min_load already keeps hot workers for ${min_load} units/s, more than these ${min_cold_load}; raise it above min_load, or leave it out`,
  },
  'floor-above-capacity': {
    parameter: 'min_load',
    allowed: 'what max_workers can carry at target_util',
    applies: ({ min_load, max_workers, target_util }, _given, { workerPerformance }) =>
      workerPerformance !== undefined &&
      // 90 / 0.9 is a little more than 100.
      min_load / target_util > max_workers * workerPerformance * (1 + 1e-9),
    message: ({ min_load, max_workers, target_util }, { workerPerformance = 0 }) =>
      `needs ${Math.ceil(min_load / target_util / workerPerformance)} workers at ${workerPerformance} units/s each, but max_workers is ${max_workers}, so this floor is never reached; raise max_workers or lower min_load`,
  },
  'inactivity-shorter-than-start': {
    parameter: 'inactivity_timeout',
    allowed: 'advised: longer than a cold worker needs to become ready',
    applies: ({ inactivity_timeout }, _given, { coldStartSeconds }) =>
      coldStartSeconds !== undefined &&
      inactivity_timeout !== undefined &&
      inactivity_timeout > 0 &&
      inactivity_timeout < coldStartSeconds,
    message: (_parameters, { coldStartSeconds }) =>
      `the endpoint may scale to zero sooner than a worker becomes ready (${coldStartSeconds} s), so workers stop and start in circles; raise it`,
  },
  'inactivity-never': {
    severity: 'note',
    parameter: 'inactivity_timeout',
    allowed: 'any integer',
    applies: ({ inactivity_timeout }) => inactivity_timeout !== undefined && inactivity_timeout < 0,
    message: () =>
      'a negative value means that the endpoint never scales to zero (so the public documentation; the interface does not say)',
  },
  'inactivity-no-gate': {
    severity: 'note',
    parameter: 'inactivity_timeout',
    allowed: 'any integer',
    applies: ({ inactivity_timeout }) => inactivity_timeout === 0,
    message: () =>
      '0 switches the gate off: the endpoint may scale to zero at any time (so the public documentation; the interface does not say)',
  },
};
