/** A command that cannot ask the daemon says why, and ends with the code for it. */
import { EXIT } from '../../config/exit-codes.ts';
import { printError, type Console } from '../console.ts';
import { DaemonAway, DaemonClosed } from './daemon.ts';

/** @returns The exit code. @throws All else. */
export function saidOfDaemon(console: Console, error: unknown): number {
  if (!(error instanceof DaemonAway || error instanceof DaemonClosed)) throw error;
  printError(console, error.message);
  return error instanceof DaemonClosed ? EXIT.unauthorized : EXIT.unreachable;
}
