/** What systemd tells a service of Type=notify in its environment: sd_notify(3), sd_watchdog_enabled(3). */
import type { Environment } from './values.ts';

export interface ServiceManagerSettings {
  /** Time between two watchdog notifications, half of what systemd allows, ms; undefined: it does not watch. */
  readonly watchdogMs: number | undefined;
}

/** Undefined when no service manager listens. `pid` is this process: the watchdog may be meant for another. */
export function serviceManagerSettings(
  environment: Environment = process.env,
  pid: number = process.pid,
): ServiceManagerSettings | undefined {
  if (!environment['NOTIFY_SOCKET']) return undefined;
  const { WATCHDOG_USEC: usec, WATCHDOG_PID: watched } = environment;
  const limitMs = Number(usec) / 1000;
  const ours = watched === undefined || watched === '' || Number(watched) === pid;
  return { watchdogMs: ours && limitMs > 0 ? limitMs / 2 : undefined };
}
