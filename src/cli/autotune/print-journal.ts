/** `pilotlight advise --journal`: asks a running daemon what was changed by advice, and tells it. */
import { EXIT } from '../../config/exit-codes.ts';
import { printJson, printLine, type Console } from '../console.ts';
import { fetchStatus, type DaemonAddress } from '../fleet/daemon.ts';
import { saidOfDaemon, sayHistoryTrouble } from '../fleet/daemon-trouble.ts';
import { READER_LEFT } from '../interrupts.ts';
import { wrapped } from '../text/wrapped.ts';
import { journalled, journalText, lostJournal, notSteered } from './journal.ts';

/** What a terminal has no room for goes on further in: what begins a line is a change, or a part of one. */
const HANGING = '    ';

/** @returns The exit code. @throws InputError for a name that no endpoint has */
export function printJournal(
  daemon: DaemonAddress,
  wanted: string | undefined,
  asJson: boolean,
  console: Console,
): Promise<number> {
  return console.interruptible(async (signal) => {
    try {
      const status = await fetchStatus(daemon, signal);
      const endpoints = journalled(status, wanted);
      sayHistoryTrouble(console, status);
      if (asJson) {
        for (const { endpoint_group, autotune = null } of endpoints)
          printJson(console, { endpoint_group, autotune });
        return EXIT.ok;
      }
      const lost = lostJournal(status.fleet);
      const text = journalText(endpoints, lost === undefined ? 'yet' : 'since') ?? notSteered(status);
      for (const line of [...(lost === undefined ? [] : [lost]), ...text.split('\n')])
        for (const part of wrapped(line, console.columns ?? Infinity, HANGING)) printLine(console, part);
      return EXIT.ok;
    } catch (error) {
      if (signal.aborted) return signal.reason === READER_LEFT ? EXIT.ok : EXIT.interrupted;
      return saidOfDaemon(console, error);
    }
  });
}
