/** What a failed call means for the exit code of its command. */
import { ApiError, TimeoutError, TransportError, type CallError } from '../client/errors.ts';
import { EXIT } from '../config/exit-codes.ts';

export function exitCodeOf(error: CallError): number {
  if (error instanceof TransportError || error instanceof TimeoutError) return EXIT.unreachable;
  if (error instanceof ApiError) {
    return error.status === 401 || error.status === 403 ? EXIT.unauthorized : EXIT.failed;
  }
  if (error.code === 'invalid_request') return EXIT.usage;
  return error.code === 'aborted' ? EXIT.interrupted : EXIT.failed;
}
