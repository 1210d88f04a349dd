/** What happens while endpoints are watched and is worth a line in the daemon's log. */

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
  | { readonly kind: 'history not stored'; readonly error: unknown }
  | { readonly kind: 'history stored again' };
