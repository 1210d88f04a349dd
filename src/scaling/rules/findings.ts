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

/** What the user knows about the workers, where given: it lets more rules speak. */
export interface WorkerFacts {
  /** Measured performance of one worker in performance units per second. */
  readonly workerPerformance?: number | undefined;
  /** Seconds a cold worker needs until it is ready. */
  readonly coldStartSeconds?: number | undefined;
}

export interface Rule {
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
