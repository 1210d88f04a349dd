/** Replays a recorded schedule: what every request meets is given, and so is what the engine draws. */

import { VirtualTime } from '../support/virtual-time.ts';
import type { Sky } from './network.ts';
import type { Schedule } from './recorded-schedules.ts';
import { finish, type RunOptions, type RunResult } from './scenario.ts';
import { World } from './world.ts';

export async function replay(
  schedule: Schedule,
  { step, makePacer, trace }: Omit<RunOptions, 'seed'> = {},
): Promise<RunResult> {
  const time = new VirtualTime();
  const met = new Map<number, number>();
  const weather = {
    get changes(): number {
      return phaseAt(schedule, time.now);
    },
    meet(): Sky {
      const phase = phaseAt(schedule, time.now);
      const count = met.get(phase) ?? 0;
      met.set(phase, count + 1);
      const meets = schedule.phases[phase]?.meets ?? [];
      const next = meets[count % meets.length] ?? 20;
      return typeof next === 'number' ? { latency: next } : { fate: next };
    },
  };
  let drawn = 0;
  const random = {
    next: (): number => {
      drawn += 1;
      return schedule.draws[(drawn - 1) % schedule.draws.length] ?? 0;
    },
  };
  const world = new World(time, { random, weather, step, trace, pacer: makePacer?.() });
  world.service.rate = schedule.rate;
  world.service.limit = schedule.limit;
  time.lateness = () => schedule.lateness;
  for (let id = 1; id <= schedule.deployments; id += 1) world.light(id, schedule.ttl, schedule.interval);
  await world.run(schedule.end);
  return finish(world);
}

function phaseAt({ phases }: Schedule, now: number): number {
  return phases.findLastIndex(({ from }) => from <= now);
}
