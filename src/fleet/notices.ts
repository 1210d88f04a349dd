/** What happens while endpoints are watched and is worth a line in the daemon's log. */
import type { Evidence, TroubleName } from './troubles/detectors.ts';
import type { Unanswered } from '../spend/spend-watch.ts';

export type FleetNotice =
  | {
      readonly kind: 'endpoints changed';
      readonly begun: readonly string[];
      readonly left: readonly string[];
    }
  | { readonly kind: 'endpoints not listed'; readonly error: unknown; readonly failures: number }
  | { readonly kind: 'endpoints listed again'; readonly failures: number }
  /** Wanted by names that no endpoint has. */
  | { readonly kind: 'endpoints unknown'; readonly names: readonly string[] }
  | {
      readonly kind: 'look failed';
      readonly endpoint: string;
      readonly error: unknown;
      /** In a row. */
      readonly failures: number;
    }
  | { readonly kind: 'look succeeded again'; readonly endpoint: string; readonly failures: number }
  | {
      readonly kind: 'trouble begun';
      readonly endpoint: string;
      readonly trouble: TroubleName;
      readonly severity: 'critical' | 'warning';
      readonly evidence: Evidence;
    }
  | {
      readonly kind: 'trouble ended';
      readonly endpoint: string;
      readonly trouble: TroubleName;
      readonly seconds: number;
    }
  /** What is seen meanwhile is held in memory. */
  | { readonly kind: 'history not stored'; readonly error: unknown }
  | { readonly kind: 'history stored again' }
  /** Its file cannot be read; it has this path now, and a new one begins. */
  | { readonly kind: 'history set aside'; readonly path: string; readonly error: unknown }
  /** Of money; once, until it is answered again. */
  | ({ readonly kind: 'spend not told'; readonly cause: unknown } & Unanswered);
