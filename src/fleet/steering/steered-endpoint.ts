/** What steering knows of one endpoint between two looks. */
import type { Advice } from '../../scaling/advice/advice.ts';
import type { Change, SteeringState } from '../../scaling/autotune/state.ts';

export interface SteeredEndpoint {
  state: SteeringState;
  /** The state that is known to be stored. */
  stored: SteeringState | undefined;
  holds: string | undefined;
  journal: readonly Change[];
  advice: Advice | undefined;
  /** Advice is being asked for, or was not had: not again before. */
  askAgainMs: number;
  /** It was told that its change is in force and nobody watches it. */
  isLeft: boolean;
}

export function nothingKnown(state: SteeringState): SteeredEndpoint {
  return {
    state,
    stored: undefined,
    holds: undefined,
    journal: [],
    advice: undefined,
    askAgainMs: 0,
    isLeft: false,
  };
}
