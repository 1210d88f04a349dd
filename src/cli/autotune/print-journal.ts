/** `pilotlight advise --journal`: asks a running daemon what was changed by advice, and tells it. */
import { printJson, printLine, type Console } from '../console.ts';
import { chosenEndpoints } from '../fleet/chosen.ts';
import { fetchStatus, type DaemonAddress } from '../fleet/daemon.ts';
import { journalText } from './journal.ts';

/** @throws InputError for a name that no endpoint has; DaemonAway, DaemonClosed */
export function printJournal(
  daemon: DaemonAddress,
  wanted: string | undefined,
  asJson: boolean,
  console: Console,
): Promise<void> {
  return console.interruptible(async (signal) => {
    const endpoints = chosenEndpoints(await fetchStatus(daemon, signal), wanted);
    if (asJson) {
      for (const { endpoint_group, autotune = null } of endpoints)
        printJson(console, { endpoint_group, autotune });
      return;
    }
    const text =
      journalText(endpoints) ??
      'nothing is changed by advice: PILOTLIGHT_AUTOTUNE is off, or no bounds are set';
    for (const line of text.split('\n')) printLine(console, line);
  });
}
