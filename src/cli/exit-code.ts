/** What a failed call means for the exit code of its command. */
import {
  ApiError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
  type CallError,
} from '../client/errors.ts';
import { ERRORS, type ErrorDefinition } from '../contract/errors.ts';
import { EXIT } from '../config/exit-codes.ts';

export function exitCodeOf(error: CallError): number {
  if (error instanceof TransportError || error instanceof TimeoutError) return EXIT.unreachable;
  if (error instanceof ApiError) return isAboutKey(error) ? EXIT.unauthorized : EXIT.failed;
  if (error.code === 'invalid_request') return EXIT.usage;
  return error.code === 'aborted' ? EXIT.interrupted : EXIT.failed;
}

/** Whether another key would help. A second factor is refused with 401 and 403 as well, whatever the key may do. */
function isAboutKey(error: ApiError): boolean {
  if (error instanceof UnauthorizedError) return true;
  const { errorCode: code, status } = error;
  if (code === undefined || !Object.hasOwn(ERRORS, code)) return status === 401 || status === 403;
  const { aboutKey = [] } = (ERRORS as Readonly<Record<string, ErrorDefinition>>)[code] ?? {};
  return aboutKey.includes(status);
}
