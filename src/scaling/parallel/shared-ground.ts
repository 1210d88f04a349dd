/** What a thread of a search begins with. */
import type { SharedLoad } from '../planner/load/shared-load.ts';
import type { Sample } from '../planner/search/sample.ts';
import type { TrialGround } from '../planner/search/trial.ts';

export interface SharedGround extends Pick<TrialGround, 'settings'> {
  readonly loads: readonly SharedLoad[];
  readonly samples: readonly SharedSample[] | undefined;
}

interface SharedSample extends Omit<Sample, 'load'> {
  readonly load: SharedLoad;
}
