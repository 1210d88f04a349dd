/** What the watch asks of the service. */
import type { Charge } from '../contract/operations/spend.ts';
import type { EndpointsAnswer } from './discovery/knowledge.ts';
import type { Prices, WorkersAnswer } from './workers/measure.ts';

export interface FleetService {
  endpoints(signal: AbortSignal): Promise<EndpointsAnswer>;
  /** `everyMs`: how often they are asked for. It waits for the rate limit of the key. */
  workers(endpointId: number, everyMs: number, signal: AbortSignal): Promise<WorkersAnswer>;
  readonly prices: PriceSource;
  readonly spend: SpendService;
}

/** What it tells of money. */
export interface SpendService {
  /** Dollars an hour, by the id of the endpoint; null: the service does not know. */
  told(signal: AbortSignal): Promise<ReadonlyMap<number, number | null>>;
  /** Of one UTC day, such as `2026-11-28`; undefined: some could not be read, and the sum would be too small. */
  charges(day: string, signal: AbortSignal): Promise<readonly Charge[] | undefined>;
  /** Whether a failure is a no, for want of a permission or not, that a repetition does not change. */
  howRefused(error: unknown): 'permission' | 'refused' | undefined;
}

/** Prices of instances, as they were last read for whatever purpose. */
export interface PriceSource {
  known(): Prices;
  /** When, Unix ms; undefined: not yet. */
  listedAtMs(): number | undefined;
  /** Somebody lacks one, or would like to know whether they changed: they are read again where that is due. */
  refresh(isLacking: boolean): void;
}
