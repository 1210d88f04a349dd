/** Follows any number of worker groups, each on its own: only what is long waits for others to have come. */
import type { GroupView } from './group-stats.ts';
import { GroupFollower, type FollowOptions } from './group-follower.ts';
import { PollsUnderWay } from './polls-under-way.ts';

export interface Follower {
  /** Follows one more group; does nothing when it is followed already. */
  add(workergroupId: number): void;
  /** Stops following a group. How far it was taken stays known: added again, it goes on from there. */
  remove(workergroupId: number): Promise<void>;
  view(): readonly GroupView[];
  stop(): Promise<void>;
}

interface Following {
  readonly group: GroupFollower;
  readonly halt: AbortController;
  readonly done: Promise<void>;
}

export function createFollower(options: FollowOptions): Follower {
  const followed = new Map<number, Following>();
  const underWay = new PollsUnderWay(options.clock);

  async function remove(workergroupId: number): Promise<void> {
    const following = followed.get(workergroupId);
    followed.delete(workergroupId);
    following?.halt.abort();
    await following?.done;
  }

  return {
    add(workergroupId) {
      if (followed.has(workergroupId)) return;
      const group = new GroupFollower(workergroupId, options, underWay);
      const halt = new AbortController();
      followed.set(workergroupId, { group, halt, done: group.run(halt.signal) });
    },
    remove,
    view: () => Array.from(followed.values(), ({ group }) => group.view()),
    async stop() {
      await Promise.all(Array.from(followed.keys(), remove));
    },
  };
}
