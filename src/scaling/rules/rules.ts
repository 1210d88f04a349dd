/** Rules over values that are each valid by themselves. Each says what the problem costs, and what to do. */
import type {
  ENDPOINT_GROUP_DEFAULTS,
  EndpointGroupParameter,
} from '../../contract/operations/serverless/endpoint-groups.ts';

export const SEVERITIES = ['error', 'warning', 'note'] as const;
/** `error`: the service would refuse it. `warning`: it will cost money or time. `note`: worth knowing. */
export type Severity = (typeof SEVERITIES)[number];

/** What one rule says about one parameter. */
export interface Finding {
  /** Stable id of the rule, e.g. `target-util-range`. */
  readonly rule: string;
  readonly severity: Severity;
  /** Name of the parameter, as the user wrote it. */
  readonly parameter: string;
  /** The value it got; undefined if it was not given, or if the parameter is unknown. */
  readonly got: unknown;
  /** The allowed or advised values, in words: `a number above 0 and at most 1`. */
  readonly allowed: string;
  /** Why it matters and what to do. */
  readonly message: string;
}

export const UNKNOWN_PARAMETER = 'unknown-parameter';

/** The value of a finding in words. JSON has none for numbers that are not finite. */
export function gotInWords({ rule, got }: Finding): string {
  if (rule === UNKNOWN_PARAMETER) return 'a value';
  if (got === undefined) return 'nothing';
  if (typeof got === 'number') return String(got);
  if (Array.isArray(got)) return 'a list';
  if (typeof got === 'object' && got !== null) return 'an object';
  return JSON.stringify(got) ?? typeof got;
}

/** Parameters with every default of §2.7 filled in; two have none. */
export interface ResolvedParameters extends Readonly<Record<keyof typeof ENDPOINT_GROUP_DEFAULTS, number>> {
  readonly endpoint_name: string | undefined;
  readonly inactivity_timeout: number | undefined;
}

/** What the user knows about the workers. Two rules need it. */
export interface WorkerFacts {
  /** Measured performance of one worker in performance units per second. */
  readonly workerPerformance?: number | undefined;
  /** Seconds a cold worker needs until it is ready. */
  readonly coldStartSeconds?: number | undefined;
}

interface Rule {
  readonly severity?: Severity;
  readonly parameter: EndpointGroupParameter;
  readonly allowed: string;
  /** Why it matters and what to do. */
  readonly message: (parameters: ResolvedParameters, facts: WorkerFacts) => string;
  /** `given` tells what the user wrote from what was filled in. */
  readonly applies: (
    parameters: ResolvedParameters,
    given: ReadonlySet<string>,
    facts: WorkerFacts,
  ) => boolean;
}

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
  'shell-characters-in-name': {
    parameter: 'endpoint_name',
    allowed: 'advised: letters, digits, _ and -',
    applies: ({ endpoint_name: name = '' }) => /[|&;<>()$`\\"'*?[\]{}~!#]/.test(name),
    message: () =>
      'the public service was seen to refuse a name with characters that a shell reads, such as ( or ;',
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
