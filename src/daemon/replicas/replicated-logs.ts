/** Log following that begins and ends with the lease: to the daemon it looks like any other. */
import type { Settings } from '../../config/options.ts';
import type { LogFollowing } from '../services/logs/following.ts';
import type { LogListener } from '../../logs/events.ts';
import type { PipelineSpool } from '../../logs/follow/pipeline.ts';
import type { SharedSpool } from './shared-spool.ts';

export type StartFollowing = (
  settings: Settings,
  openSpool: (sinks: readonly string[], observe: LogListener) => PipelineSpool,
) => Promise<LogFollowing>;

export interface ReplicatedLogs extends LogFollowing {
  /** This replica holds the lease now: follows from where the last holder ended. */
  takeOver(open: (sinks: readonly string[], observe: LogListener) => SharedSpool): Promise<void>;
  /** The lease is gone: what was not delivered is the next holder's. The spool as it was, if there was one. */
  standDown(): Promise<SharedSpool | undefined>;
  /** Of what this replica has committed last, while it follows. */
  version(): number | undefined;
}

export function createReplicatedLogs(initial: Settings, start: StartFollowing): ReplicatedLogs {
  let settings = initial;
  let current: { readonly following: LogFollowing; readonly spool: SharedSpool } | undefined;
  let stopping = false;

  async function end(deadline: AbortSignal): Promise<SharedSpool | undefined> {
    const ending = current;
    ending?.following.beginStop(deadline);
    await ending?.following.stopped();
    await ending?.spool.settled();
    if (current === ending) current = undefined;
    return ending?.spool;
  }
  let ended: Promise<unknown> | undefined;

  return {
    status: () =>
      current?.following.status() ?? { worker_groups: [], endpoint_logs: [], sinks: [], spool_durable: true },
    async apply(next) {
      settings = { ...settings, ...next };
      await current?.following.apply(next);
    },
    async takeOver(open) {
      if (stopping) throw new Error('stopping');
      let spool: SharedSpool | undefined;
      const following = await start(settings, (sinks, observe) => (spool = open(sinks, observe)));
      if (spool) current = { following, spool };
      if (stopping) await end(AbortSignal.abort(new Error('stopping')));
    },
    standDown: () => end(AbortSignal.abort(new Error('the lease has gone to another replica'))),
    version: () => current?.spool.version,
    beginStop(deadline) {
      stopping = true;
      ended ??= end(deadline);
      // Awaited by stopped(); until then a failure must not count as unhandled.
      ended.catch(() => {});
    },
    async stopped() {
      await ended;
    },
  };
}
