/** Some hours of an endpoint, recorded, whose model is that of the planner: quick to advise on. */
import type { PackedRecorded } from '../../src/daemon/advice/history.ts';
import { packedRows } from '../../src/fleet/advice/packed-rows.ts';
import type { Recorded } from '../../src/scaling/advice/recorded.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';

const LOOK_MS = 15_000;

/** Two workers are hot, and one would do; each costs 0.4 an hour. */
export function recordedEndpoint(hours: number, over: Partial<Recorded> = {}): Recorded {
  const looks = hours * 240;
  return {
    endpoint: 'chat',
    stretches: Array.from({ length: looks }, (_, index) => ({
      fromMs: index * LOOK_MS,
      toMs: (index + 1) * LOOK_MS,
      isSample: true,
      load: 50 + (index % 2),
      loadAverage: 50,
      hot: 3,
      cold: 0,
      starting: 0,
      ready: 3,
      readyCapacity: 300,
      costPerHour: 1.2,
    })),
    starts: [{ from: 'cold', seconds: 30 }],
    performances: [],
    parameters: {
      ...resolveDefaults({}),
      target_util: 0.5,
      cold_mult: 1,
      cold_workers: 0,
      min_load: 150,
      max_workers: 4,
      target_queue_time: 10,
    },
    ...over,
  };
}

/** As the daemon hands it to the child that computes. */
export function packedRecorded({ stretches, ...known }: Recorded): PackedRecorded {
  const rows = stretches.map(({ fromMs, toMs, isSample, ...seen }) =>
    isSample ? { fromMs: toMs, lengthMs: 0, ...seen } : { fromMs, lengthMs: toMs - fromMs, ...seen },
  );
  return { ...known, pages: [packedRows(rows)] };
}
