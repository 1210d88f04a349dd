/**
 * Tells systemd the state of the service (sd_notify(3)). Node has no datagram sockets for local addresses, so
 * `systemd-notify` sends the messages, and the unit needs NotifyAccess=all.
 */
import { execFile } from 'node:child_process';
import type { ServiceManagerSettings } from '../../config/other-variables.ts';

export type ServiceManager = ReturnType<typeof createServiceManager>;

const TIMEOUT_MS = 5_000;

export function createServiceManager(
  { watchdogMs }: ServiceManagerSettings,
  onFailure: (error: Error) => void,
) {
  let queue = Promise.resolve();
  let failed = false;

  /** One after the other: READY must not overtake RELOADING. */
  function send(...assignments: readonly string[]): void {
    queue = queue.then(() => run(assignments)).then(noteFailure);
  }

  function noteFailure(error: Error | null): void {
    if (error && !failed) onFailure(error);
    failed = error !== null;
  }

  return {
    ready: (status: string) => send('READY=1', `STATUS=${status}`),
    // systemd compares this clock with its own: CLOCK_MONOTONIC in microseconds.
    reloading: () => send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    // Not queued: its sender has to start before this process ends, and outlives it.
    stopping: () => void run(['STOPPING=1', 'STATUS=stopping']),
    /** A sign of life at each half of the watchdog's time, as long as `live` says so. */
    watch(live: () => boolean) {
      if (watchdogMs === undefined) return;
      let underway = false;
      const sign = async (): Promise<void> => {
        if (underway || !live()) return;
        underway = true;
        noteFailure(await run(['WATCHDOG=1']));
        underway = false;
      };
      setInterval(() => void sign(), watchdogMs).unref();
    },
  };
}

function run(assignments: readonly string[]): Promise<Error | null> {
  return new Promise((resolve) => {
    execFile('systemd-notify', assignments, { timeout: TIMEOUT_MS }, (error) => resolve(error));
  });
}
