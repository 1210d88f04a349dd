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
export { checkEndpointGroup, checkEndpointGroups, type CheckedGroup } from './scaling/check.ts';
export type { Finding, Severity } from './scaling/findings.ts';
