/** A command that cannot ask the daemon says why, and ends with the code for it. */
import { EXIT } from '../../config/exit-codes.ts';
import { printError, type Console } from '../console.ts';
import type { Status } from '../../daemon/status/schema.ts';
import { legibleLine } from '../text/legible.ts';
import { DaemonAway, DaemonClosed } from './daemon.ts';

/** @returns The exit code. @throws All else. */
export function saidOfDaemon(console: Console, error: unknown): number {
  if (!(error instanceof DaemonAway || error instanceof DaemonClosed)) throw error;
  printError(console, legibleLine(error.message));
  return error instanceof DaemonClosed ? EXIT.unauthorized : EXIT.unreachable;
}

/** It answers by what it holds all the same, which may be minutes of a history of weeks. */
export function sayHistoryTrouble(console: Console, { fleet }: Pick<Status, 'fleet'>): void {
  if (fleet?.history_trouble)
    printError(console, legibleLine(`the daemon has no use of its history: ${fleet.history_trouble}`));
}
