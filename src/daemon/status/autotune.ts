/** Steering of one endpoint as the status has it: the story of each change in words. */
import type { SteeringView } from '../../fleet/steering/port.ts';
import { storyOf } from '../../scaling/autotune/story.ts';
import type { AutotuneStatus } from './schema.ts';

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
