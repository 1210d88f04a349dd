/** Exit codes of the program, the same for every command. */
import { ApiError, PilotlightError, TimeoutError, TransportError } from '../client/errors.ts';

export const EXIT = {
  ok: 0,
  /** The service answered, and said no. */
  refused: 1,
  /** Wrong usage, input or configuration; nothing was sent. */
  usage: 2,
  /** No answer from the service or the daemon. */
  unreachable: 3,
  /** The key is missing, wrong, or may not do this. */
  unauthorized: 4,
  interrupted: 130,
} as const;

export function exitCodeOf(error: unknown): number {
  if (error instanceof TransportError || error instanceof TimeoutError) return EXIT.unreachable;
  if (error instanceof ApiError) {
    return error.status === 401 || error.status === 403 ? EXIT.unauthorized : EXIT.refused;
  }
  if (!(error instanceof PilotlightError)) return EXIT.refused;
  return error.code === 'invalid_request'
    ? EXIT.usage
    : error.code === 'aborted'
      ? EXIT.interrupted
      : EXIT.refused;
}
