import { RecordedLoad, type ReplayableLoad } from './load.ts';
import { RateLoad } from './rate-load.ts';
import type { SharedLoad } from './shared-load.ts';

/** The load that was shared, without a copy of its requests. */
export function openLoad(shared: SharedLoad): ReplayableLoad {
  return shared.kind === 'recorded' ? new RecordedLoad(shared.requests) : new RateLoad(shared.rates);
}
