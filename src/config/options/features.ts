/**
 * What of the daemon is off while a variable that it is configured by is malformed, or while the file that has its
 * value is not there. Off is chosen so that nothing is lost, repeated or opened by a guess.
 */
import { randomUUID } from 'node:crypto';
import type { DaemonSettings, Feature } from './daemon-options.ts';

interface SwitchedOff {
  /** What a person reads of it. */
  readonly words: string;
  /** The settings that bring it about. */
  readonly settings: (settings: DaemonSettings) => Partial<DaemonSettings>;
}

const NO_WATCHES = { maintenanceSchedule: 'off', instancesSchedule: 'off', accountSchedule: 'off' } as const;

export const FEATURES: Readonly<Record<Feature, SwitchedOff>> = {
  logs: { words: 'no worker group is followed', settings: () => ({ workerGroups: [] }) },
  fileSink: { words: 'the file sink is off', settings: (settings) => withoutSink(settings, 'file') },
  otlpSink: { words: 'the OTLP sink is off', settings: (settings) => withoutSink(settings, 'otlp') },
  endpointGroups: { words: 'no endpoint group is checked', settings: () => ({ endpointGroups: [] }) },
  fleet: { words: 'no endpoint is watched', settings: () => ({ endpoints: [] }) },
  budget: {
    words: 'the cost of endpoints is watched without a budget',
    settings: () => ({ budgetPerHour: undefined }),
  },
  maintenance: {
    words: 'maintenance windows are not watched',
    settings: () => ({ maintenanceSchedule: 'off', machines: [] }),
  },
  instances: { words: 'instances are not watched', settings: () => ({ instancesSchedule: 'off' }) },
  account: { words: 'the account is not watched', settings: () => ({ accountSchedule: 'off' }) },
  replicas: {
    words: 'no worker group is followed and nothing is watched, for another replica may do it',
    settings: () => ({ redisUrl: undefined, workerGroups: [], endpoints: [], ...NO_WATCHES }),
  },
  listener: {
    words: 'metrics, probes and status page are not served',
    settings: () => ({ listen: undefined }),
  },
  adminListener: { words: 'the admin routes are not served', settings: () => ({ adminListen: undefined }) },
  // A random token, so that what is to be closed stays closed until the configured one can be read.
  metrics: {
    words: 'metrics, page, status and fleet are closed',
    settings: () => ({ metricsToken: randomUUID() }),
  },
  publicStatus: {
    words: 'page and status show log lines only with a token',
    settings: () => ({ publicStatus: false }),
  },
};

export function switchOff(settings: DaemonSettings, features: Iterable<Feature>): DaemonSettings {
  const left = { ...settings };
  for (const feature of features) Object.assign(left, FEATURES[feature].settings(left));
  return left;
}

/** Where no sink is left, what is followed would go nowhere. */
function withoutSink(settings: DaemonSettings, sink: 'file' | 'otlp'): Partial<DaemonSettings> {
  const logSinks = settings.logSinks.filter((name) => name !== sink);
  return logSinks.length === 0 ? { logSinks, workerGroups: [] } : { logSinks };
}
