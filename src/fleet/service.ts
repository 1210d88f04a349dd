import type { SpendService } from '../spend/spend-watch.ts';
import type { EndpointsAnswer } from './discovery/knowledge.ts';
import type { Prices, WorkersAnswer } from './workers/measure.ts';

export interface FleetService {
  endpoints(signal: AbortSignal): Promise<EndpointsAnswer>;
  /** `everyMs`: how often they are asked for. Waits for the rate limit. */
  workers(endpointId: number, everyMs: number, signal: AbortSignal): Promise<WorkersAnswer>;
  /** Never rejects: a key may lack the permission. */
  priceCeilings(signal: AbortSignal): Promise<PriceCeilings>;
  readonly prices: PriceSource;
  readonly spend: SpendService;
}

/** The highest price that worker groups search for, $/h, by endpoint id. */
export type PriceCeilings = ReadonlyMap<number, number>;

/** Prices of instances as they were last read. */
export interface PriceSource {
  known(): Prices;
  /** Unix ms; undefined: not yet. */
  listedAtMs(): number | undefined;
  /** Reads them again if that is due; sooner if one is lacking. */
  refresh(isLacking: boolean): void;
}
