/** What the watch asks of the service. */
import type { SpendService } from '../spend/spend-watch.ts';
import type { EndpointsAnswer } from './discovery/knowledge.ts';
import type { Prices, WorkersAnswer } from './workers/measure.ts';

export interface FleetService {
  endpoints(signal: AbortSignal): Promise<EndpointsAnswer>;
  /** `everyMs`: how often they are asked for. It waits for the rate limit of the key. */
  workers(endpointId: number, everyMs: number, signal: AbortSignal): Promise<WorkersAnswer>;
  /** Never rejects: a key may not be allowed to. */
  priceCeilings(signal: AbortSignal): Promise<PriceCeilings>;
  readonly prices: PriceSource;
  readonly spend: SpendService;
}

/** The highest price that worker groups search for, $/h, by endpoint id; none for an endpoint without a limit. */
export type PriceCeilings = ReadonlyMap<number, number>;

/** Prices of instances, as they were last read for whatever purpose. */
export interface PriceSource {
  known(): Prices;
  /** When, Unix ms; undefined: not yet. */
  listedAtMs(): number | undefined;
  /** Somebody lacks one, or would like to know whether they changed: they are read again where that is due. */
  refresh(isLacking: boolean): void;
}
