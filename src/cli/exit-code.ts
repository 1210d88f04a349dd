/** Failures of commands: the message that is printed, and the exit code. */
import {
  ApiError,
  CallError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
  adviceOf,
} from '../client/errors.ts';
import { ERRORS, type ErrorDefinition } from '../contract/errors.ts';
import { EXIT } from '../config/exit-codes.ts';
import { CommandError, printError, type Console, interruptedExit } from './console.ts';
import { legibleLine } from './text.ts';

/** Says why a command failed and what to do; the exit code. @throws an error that is not the user's */
export function tellFailure(console: Pick<Console, 'err'>, error: unknown): number {
  if (error instanceof Error && error.name === 'AbortError') return interruptedExit(error);
  if (!(error instanceof CommandError || error instanceof CallError)) throw error;
  printError(console, `error: ${error instanceof CallError ? legibleLine(error.message) : error.message}`);
  if (error instanceof CommandError) return error.exit;
  printAdvice(console, error);
  return exitCodeOf(error);
}

export function printAdvice(console: Pick<Console, 'err'>, error: CallError): void {
  const advice = error instanceof ApiError ? adviceOf(error) : '';
  if (advice !== '') printError(console, advice);
}

export function exitCodeOf(error: CallError): number {
  if (error instanceof TransportError || error instanceof TimeoutError) return EXIT.unreachable;
  if (error instanceof ApiError) return isAboutKey(error) ? EXIT.unauthorized : EXIT.failed;
  if (error.code === 'invalid_request' || error.code === 'unusable_archive') return EXIT.usage;
  return error.code === 'aborted' ? EXIT.interrupted : EXIT.failed;
}

/** Whether another key would help. A second factor is refused with 401 and 403 as well. */
function isAboutKey(error: ApiError): boolean {
  if (error instanceof UnauthorizedError) return true;
  const { errorCode: code, status } = error;
  if (code === undefined || !Object.hasOwn(ERRORS, code)) return status === 401 || status === 403;
  const { aboutKey = [] } = (ERRORS as Readonly<Record<string, ErrorDefinition>>)[code] ?? {};
  return aboutKey.includes(status);
}
