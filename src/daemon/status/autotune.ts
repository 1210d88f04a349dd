/** Steering of one endpoint as the status has it: the story of each change in words. */
import type { SteeringView, UnwatchedEndpoint } from '../../fleet/steering/port.ts';
import { storyOf } from '../../scaling/autotune/story.ts';
import type { AutotuneStatus, FleetStatus } from './schema.ts';

/** In seconds; what is not known is null. The last change first. */
export function autotuneStatus({ holds, pausedUntilMs, journal }: SteeringView): AutotuneStatus {
  return {
    holds: holds ?? null,
    paused_until: pausedUntilMs === undefined ? null : pausedUntilMs / 1000,
    changes: journal.toReversed().map((change) => {
      const { atMs, what, why, expected, came } = storyOf(change);
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
export function unwatchedStatus({
  endpoint,
  steering,
}: UnwatchedEndpoint): FleetStatus['autotune']['unwatched'][number] {
  return { endpoint_group: endpoint, ...autotuneStatus(steering) };
}
