/** One world: what is advised by what was seen of it, and what then really happens. */
import { advise } from '../../../src/scaling/advice/advise.ts';
import type { AdviceReport } from '../../../src/scaling/advice/report.ts';
import type { Phase, World } from './spec.ts';
import { arrivalsIn, live, type Outcome } from './world.ts';

export interface AdviceTrial {
  readonly report: AdviceReport;
  /** What really happened in the hours that the advice goes by. */
  readonly was: Outcome;
  /** Under the same requests, with things as they were at the end: with the set in force, and with the advised one. */
  readonly today: Outcome;
  readonly best: Outcome;
}

export async function trialOf(world: World): Promise<AdviceTrial> {
  const arrivals = arrivalsIn(world);
  const was = live(world, arrivals, world.parameters);
  const report = await advise(
    {
      endpoint: 'chat',
      stretches: was.stretches,
      starts: was.starts,
      performances: was.performances,
      parameters: world.parameters,
    },
    { nowMs: was.stretches.at(-1)?.toMs ?? 0 },
    { bounds: boundsIn(world) },
  );
  const after = { ...world, phases: [{ ...(world.phases.at(-1) as Phase), fromSeconds: 0 }], holes: [] };
  const today = live(after, arrivals, world.parameters);
  const best = report.best
    ? live(after, arrivals, { ...world.parameters, ...report.best.parameters })
    : today;
  return { report, was, today, best };
}

/** What costs most of a search is how much it may vary: the reserve of cold workers is left as it is. */
function boundsIn({ parameters: { cold_workers, min_cold_load, cold_mult } }: World) {
  return {
    cold_workers: [cold_workers, cold_workers],
    min_cold_load: [min_cold_load, min_cold_load],
    cold_mult: [cold_mult, cold_mult],
  } as const;
}
