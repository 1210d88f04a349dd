/** Steering of one endpoint as the status has it: the story of each change in words. */
import type { SteeringView, UnwatchedEndpoint } from '../../fleet/steering/port.ts';
import type { Change } from '../../scaling/autotune/state.ts';
import { storyOf, type Story } from '../../scaling/autotune/story.ts';
import type { AutotuneStatus, FleetStatus } from './schema.ts';

/** A change that cannot be put into words. */
export type OnUntold = (change: Change, error: unknown) => void;

/** In seconds; what is not known is null. The last change first. */
export function autotuneStatus(
  { holds, pausedUntilMs, journal }: SteeringView,
  onUntold: OnUntold = () => {},
): AutotuneStatus {
  return {
    holds: holds ?? null,
    paused_until: pausedUntilMs === undefined ? null : pausedUntilMs / 1000,
    changes: journal.toReversed().map((change) => {
      const { atMs, what, why, expected, came } = toldOf(change, onUntold);
      return {
        change: change.id,
        at: atMs / 1000,
        what,
        why,
        expected,
        came,
        outcome: change.outcome ?? null,
        ended_at: change.endedMs === undefined ? null : change.endedMs / 1000,
      };
    }),
  };
}

/** Of one that is not watched any more. */
export function unwatchedStatus(
  { endpoint, steering }: UnwatchedEndpoint,
  onUntold?: OnUntold,
): FleetStatus['autotune']['unwatched'][number] {
  return { endpoint_group: endpoint, ...autotuneStatus(steering, onUntold) };
}

/** One that cannot be told is no reason to hide the others, or all else that the status has. */
function toldOf(change: Change, onUntold: OnUntold): Story {
  try {
    return storyOf(change);
  } catch (error) {
    onUntold(change, error);
    const what = 'cannot be told; the log of the daemon says more';
    return { atMs: change.atMs, what, why: 'not known', expected: 'not known', came: 'not known' };
  }
}
