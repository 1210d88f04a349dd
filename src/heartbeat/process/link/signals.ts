/** The signals that the program handles. */
import { exitCodeOfSignal } from '../../../config/exit-codes.ts';
import { endProcess } from '../../../client/slow-file.ts';
import { takeEarlySignals } from './early-signals.ts';

export interface Signals {
  /** Resolves with the first SIGTERM or SIGINT, or when `quit` is called. */
  readonly told: Promise<void>;
  readonly quit: () => void;
  /** What SIGHUP does; nothing before it is set. */
  reload: () => void;
}

/** Meant for other programs. Their defaults are the end of this one, and Node's debugger, open to everybody here. */
const OF_OTHERS = ['SIGUSR1', 'SIGUSR2'] as const;

/**
 * To be called first: without a listener a signal is ignored by process 1 of a container, and ends the process
 * elsewhere. A second SIGTERM or SIGINT ends the process at once, as the signal alone would have.
 */
export function listenForSignals(): Signals {
  const { promise: told, resolve: quit } = Promise.withResolvers<void>();
  const signals: Signals = { told, quit, reload: () => {} };
  let once = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (once) endProcess(exitCodeOfSignal(signal));
      once = true;
      quit();
    });
  }
  process.on('SIGHUP', () => signals.reload());
  for (const signal of OF_OTHERS) process.on(signal, () => {});
  for (const signal of takeEarlySignals()) process.emit(signal, signal);
  return signals;
}
