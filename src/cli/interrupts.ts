/** What ends a command early: Ctrl-C, SIGTERM, and a reader of its results who leaves, as `head` does. */
import { EXIT } from '../config/exit-codes.ts';

export const READER_LEFT = new DOMException('the reader of the results has left', 'AbortError');

export function createInterrupts() {
  const running = new Set<AbortController>();
  return {
    /** The first Ctrl-C or SIGTERM fires the signal of the work, a second one ends the process at once. */
    interruptible: async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      const controller = new AbortController();
      const interrupt = (): void => {
        if (controller.signal.aborted) process.exit(EXIT.interrupted);
        controller.abort();
      };
      running.add(controller);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
      try {
        return await untilInterrupted(controller.signal, work);
      } finally {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt);
        running.delete(controller);
      }
    },
    /** Ends the work in order, or the process if there is none. */
    readerLeft: (): void => {
      // With the exit code set so far.
      if (running.size === 0) process.exit();
      for (const controller of running) controller.abort(READER_LEFT);
    },
  };
}

/** A failure after the signal has fired is because of it. @throws the signal's reason, or the failure */
export async function untilInterrupted<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) {
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** If `| head` closes the pipe, the command has not failed. */
export function interruptedExit(reason: unknown): number {
  return reason === READER_LEFT ? EXIT.ok : EXIT.interrupted;
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
