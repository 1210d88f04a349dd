/** What the watch reports for the daemon's log. */
import type { Unanswered } from '../spend/spend-watch.ts';
import type { Evidence, TroubleName } from './troubles/detectors.ts';

interface Failed {
  readonly error: unknown;
  readonly failures: number;
}

interface OfTrouble {
  readonly endpoint: string;
  readonly trouble: TroubleName;
}

interface Facts {
  'endpoints changed': { readonly begun: readonly string[]; readonly left: readonly string[] };
  'endpoints not listed': Failed;
  'endpoints listed again': Pick<Failed, 'failures'>;
  /** Names in the settings that no endpoint has. */
  'endpoints unknown': { readonly names: readonly string[] };
  'look failed': Failed & { readonly endpoint: string };
  'look succeeded again': Pick<Failed, 'failures'> & { readonly endpoint: string };
  'trouble begun': OfTrouble & { readonly severity: 'critical' | 'warning'; readonly evidence: Evidence };
  'trouble ended': OfTrouble & { readonly seconds: number };
  /** Memory holds new samples meanwhile. */
  'history not stored': Pick<Failed, 'error'>;
  'history stored again': object;
  /** An unreadable file was renamed to this path, and a new one begins. */
  'history set aside': Pick<Failed, 'error'> & { readonly path: string };
  /** Once, until the service answers again. */
  'spend not told': Unanswered & { readonly cause: unknown };
}

export type FleetNotice = { [K in keyof Facts]: { readonly kind: K } & Facts[K] }[keyof Facts];
