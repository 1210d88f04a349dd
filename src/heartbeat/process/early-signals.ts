/** Keeps signals that come while the program is loaded: they would end it without a last heartbeat. */
const NAMES = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const came: (typeof NAMES)[number][] = [];
const listeners = NAMES.map((name) => [name, () => void came.push(name)] as const);

export function keepEarlySignals(): void {
  for (const [name, listener] of listeners) process.on(name, listener);
}

/** From here on, somebody else listens. */
export function takeEarlySignals(): readonly NodeJS.Signals[] {
  for (const [name, listener] of listeners) process.off(name, listener);
  return came;
}
