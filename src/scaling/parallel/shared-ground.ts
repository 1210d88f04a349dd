/** What a thread of a search begins with. */
import type { SharedLoad } from '../planner/load/load.ts';
import type { TrialGround } from '../planner/search/trial.ts';

export interface SharedGround extends Omit<TrialGround, 'loads'> {
  readonly loads: readonly SharedLoad[];
}
