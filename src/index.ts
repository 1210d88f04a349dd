/** The library: `import { createClient } from 'pilotlight'`. The emulator is a subpath of its own. */
export {
  createClient,
  type CallOptions,
  type Client,
  type ClientObserver,
  type ClientOptions,
} from './client/client.ts';
export {
  AbortedError,
  ApiError,
  PilotlightError,
  RequestError,
  ResponseError,
  ThrottledError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
} from './client/errors.ts';
export type { RetryPolicy } from './client/retry.ts';
export { OPERATIONS, type Input, type OperationId, type Output } from './contract/operations.ts';
export { ERRORS, type ErrorCode } from './contract/errors.ts';
export { LIMITS } from './contract/limits.ts';
export {
  ENDPOINT_GROUP_DEFAULTS,
  endpointGroupParameters,
  type EndpointGroupParameters,
} from './contract/endpoint-groups.ts';
export {
  checkEndpointGroup,
  checkEndpointGroups,
  resolveDefaults,
  type CheckedGroup,
} from './scaling/check.ts';
export type { Finding, ResolvedParameters, Severity, WorkerFacts } from './scaling/findings.ts';
export { generateLoad, type GeneratedLoad, type LoadShape } from './scaling/planner/generators.ts';
export { RecordedLoad, type Arrival, type ArrivalStream } from './scaling/planner/load.ts';
export { plan, planStream } from './scaling/planner/plan.ts';
export type { PlanResult } from './scaling/planner/result.ts';
export {
  searchParameters,
  type Candidate,
  type SearchResult,
  type SearchStep,
} from './scaling/planner/search.ts';
export { MODEL, NOT_MODELLED, planSettings, type PlanSettings } from './scaling/planner/settings.ts';
export { Simulation, type Scenario } from './scaling/planner/simulation.ts';
export type { PlanSeries } from './scaling/planner/time-series.ts';
