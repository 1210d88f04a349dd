/** What the watch asks of the service. */
import type { EndpointsAnswer } from './discovery/knowledge.ts';
import type { Throttle } from './pace.ts';
import type { Prices, WorkersAnswer } from './workers/measure.ts';

export interface FleetService {
  endpoints(signal: AbortSignal): Promise<EndpointsAnswer>;
  workers(endpointId: number, signal: AbortSignal): Promise<WorkersAnswer>;
  /** Where an error says that there were too many questions: what it says of it. */
  throttleOf(error: unknown): Throttle | undefined;
  readonly prices: PriceSource;
}

/** Prices of instances, as they were last read for whatever purpose. */
export interface PriceSource {
  known(): Prices;
  /** Somebody lacks one, or would like to know whether they changed: they are read again where that is due. */
  refresh(isLacking: boolean): void;
}
