/** Follows any number of logs, each on its own: only what is long waits for others to have come. */
import { sourceKey, type LogSource, type SourceKey } from '../source.ts';
import type { LogView } from './group-stats.ts';
import { GroupFollower, type FollowOptions } from './group-follower.ts';
import { PollsUnderWay } from './polls-under-way.ts';

export interface Follower {
  /** Follows one more log; does nothing when it is followed already. */
  add(source: LogSource): void;
  /** Stops following a log. How far it was taken stays known: added again, it goes on from there. */
  remove(source: LogSource): Promise<void>;
  view(): readonly LogView[];
  stop(): Promise<void>;
}

interface Following {
  readonly group: GroupFollower;
  readonly halt: AbortController;
  readonly done: Promise<void>;
}

export function createFollower(options: FollowOptions): Follower {
  const followed = new Map<SourceKey, Following>();
  const underWay = new PollsUnderWay(options.clock);

  async function remove(key: SourceKey): Promise<void> {
    const following = followed.get(key);
    followed.delete(key);
    following?.halt.abort();
    await following?.done;
  }

  return {
    add(source) {
      if (followed.has(sourceKey(source))) return;
      const group = new GroupFollower(source, options, underWay);
      const halt = new AbortController();
      followed.set(sourceKey(source), { group, halt, done: group.run(halt.signal) });
    },
    remove: (source) => remove(sourceKey(source)),
    view: () => Array.from(followed.values(), ({ group }) => group.view()),
    async stop() {
      await Promise.all(Array.from(followed.keys(), remove));
    },
  };
}
