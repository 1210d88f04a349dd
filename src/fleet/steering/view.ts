/** Steering of an endpoint as others see it. Pure. */
import { isUnderWay, wantedBySteering, type SteeringState } from '../../scaling/autotune/state.ts';
import type { SteeringView } from './port.ts';
import type { SteeredEndpoint } from './steered-endpoint.ts';

type Known = Pick<SteeredEndpoint, 'state' | 'holds' | 'journal'>;

const UNKEPT =
  'nothing that outlives this process keeps what was changed: set PILOTLIGHT_STATE_DIR or PILOTLIGHT_REDIS_URL';

/** @param isKept Whether the next process would know what is changed */
export function viewOf({ state, holds, journal }: Known, apply: boolean, isKept: boolean): SteeringView {
  if (!apply) return { holds: offWords(state), pausedUntilMs: undefined, wanted: {}, journal };
  const { pause } = state;
  const wanted = wantedBySteering(state);
  return { holds: isKept ? holds : UNKEPT, pausedUntilMs: pause?.untilMs, wanted, journal };
}

function offWords({ change }: SteeringState): string {
  const off = 'PILOTLIGHT_AUTOTUNE is off';
  return isUnderWay(change) ? `${off}: the change that is in force is not watched` : off;
}

/** Of an endpoint that has a change under way and is not watched any more; undefined where it has none. */
export function unwatchedView({ state, journal }: Known): SteeringView | undefined {
  const { change } = state;
  if (!isUnderWay(change)) return undefined;
  const old = Object.entries(change.from).map(([name, value]) => `${name} ${value}`);
  const holds =
    'no endpoint of PILOTLIGHT_ENDPOINTS is called so any more, and its change is watched by nobody: let it be ' +
    `watched again, or put its old values back by hand (${old.join(', ')})`;
  return { holds, pausedUntilMs: undefined, wanted: {}, journal };
}
