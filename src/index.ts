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
  ArchiveError,
  CallError,
  RequestError,
  ResponseError,
  ThrottledError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
  UploadError,
} from './client/errors.ts';
export { ClientOptionsError } from './client/caller.ts';
export {
  deployArchive,
  type DeployedArchive,
  type DeployOptions,
  type DeployProgress,
} from './client/flows/deploy.ts';
export { explainError } from './client/errors.ts';
export {
  launchInstance,
  LaunchError,
  LeftBehindError,
  type Launched,
  type LaunchOptions,
  type LaunchProgress,
} from './client/flows/launch.ts';
export { fitOnstart } from './client/flows/launch.ts';
export {
  addSms,
  addTotp,
  login,
  regenerateBackupCodes,
  removeMethod,
  type LoginOptions,
} from './client/flows/tfa.ts';
export { totpCode, type AskCode, type CodePrompt, type ProofOptions } from './client/flows/tfa.ts';
export type { RetryPolicy } from './client/retry.ts';
export {
  ENDPOINT_GROUP_DEFAULTS,
  endpointGroupParameters,
  type EndpointGroupParameters,
} from './contract/operations/serverless/endpoint-groups.ts';
export { envMapOf, parseEnvFlags, printEnvFlags, type EnvFlag } from './contract/text/env-flags.ts';
export { ERRORS, type ErrorCode } from './contract/errors.ts';
export { LIMITS } from './contract/limits.ts';
export { PilotlightError } from './contract/pilotlight-error.ts';
export { mergeLaunch as previewLaunch, type MergedLaunch } from './contract/merge.ts';
export { OPERATIONS, type Input, type OperationId, type Output } from './contract/operations.ts';
export { FlagError } from './contract/text/shell-words.ts';
export {
  checkEndpointGroup,
  checkEndpointGroups,
  resolveDefaults,
  type CheckedGroup,
} from './scaling/rules/check.ts';
export type { Finding, ResolvedParameters, Severity, WorkerFacts } from './scaling/rules/rules.ts';
export { generateLoad, type GeneratedLoad, type LoadShape } from './scaling/planner/load.ts';
export { RecordedLoad, type Arrival, type ArrivalStream } from './scaling/planner/load.ts';
export { plan, planStream, Simulation, type Scenario } from './scaling/planner/plan.ts';
export type { PlanResult } from './scaling/planner/model/stats.ts';
export {
  searchParameters,
  type Candidate,
  type SearchOptions,
  type SearchRequest,
  type SearchResult,
  type SearchStep,
} from './scaling/planner/search/search.ts';
export { MODEL, NOT_MODELLED, planSettings, type PlanSettings } from './scaling/planner/settings.ts';
export type { PlanSeries } from './scaling/planner/model/stats.ts';
