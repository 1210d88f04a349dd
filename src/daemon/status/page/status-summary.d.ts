import type { EndpointStatus, Status } from '../schema.ts';

/** The sentence that says whether all is well, and what needs a person. `now`: Unix seconds. */
export function summaryOf(
  status: Status,
  now: number,
): { readonly tone: string; readonly sentence: string; readonly troubles: readonly string[] };
/** Why no endpoint is shown. */
export function noEndpoints(status: Pick<Status, 'fleet' | 'replica'>): string;
export function fleetTroubles(
  status: Pick<Status, 'fleet'>,
  now: number,
): readonly (readonly [tone: string, text: string])[];
/** The service's own figure, else the estimate; null: not known. */
export function spendPerHour(endpoint: EndpointStatus): number | null;
