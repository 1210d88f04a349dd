/** What the looks at an endpoint add up to over a day. Pure. */
import type { FleetSample } from '../../../fleet/sample.ts';
import { phaseOf } from '../../../fleet/workers/status.ts';

export interface Cell {
  readonly load: number;
  readonly ready: number;
  readonly costPerHour: number;
}

export interface DayFigures {
  /** Since midnight. */
  readonly seconds: number;
  readonly sample: FleetSample | undefined;
  /** So far. */
  readonly cost: number;
  readonly workerHours: { readonly ready: number; readonly starting: number; readonly cold: number };
  readonly mostReady: number;
  /** Of each part of the day that is over the means; of the one that is not, those until now. */
  readonly cells: readonly Cell[];
}

export const NO_FIGURES: DayFigures = {
  seconds: 0,
  sample: undefined,
  cost: 0,
  workerHours: { ready: 0, starting: 0, cold: 0 },
  mostReady: 0,
  cells: [],
};

/** A look that speaks for the `seconds` before it. `cellSeconds`: a multiple of them. */
export function withSample(
  figures: DayFigures,
  sample: FleetSample,
  { seconds, cellSeconds }: { readonly seconds: number; readonly cellSeconds: number },
): DayFigures {
  const { load, capacity_hot: ready, cost_per_hour: costPerHour } = sample.measures;
  const now = { load: load ?? 0, ready: ready ?? 0, costPerHour: costPerHour ?? 0 };
  const workers = phases(sample);
  const hours = seconds / 3600;
  const { workerHours } = figures;
  return {
    seconds: figures.seconds + seconds,
    sample,
    cost: figures.cost + now.costPerHour * hours,
    workerHours: {
      ready: workerHours.ready + workers.ready * hours,
      starting: workerHours.starting + workers.starting * hours,
      cold: workerHours.cold + workers.cold * hours,
    },
    mostReady: Math.max(figures.mostReady, workers.ready),
    cells: withCell(figures, now, { seconds, cellSeconds }),
  };
}

function withCell(
  { seconds: before, cells }: DayFigures,
  now: Cell,
  { seconds, cellSeconds }: { readonly seconds: number; readonly cellSeconds: number },
): Cell[] {
  const [place, samples] = [Math.floor(before / cellSeconds), (before % cellSeconds) / seconds];
  const mean = (old: number, next: number) => (old * samples + next) / (samples + 1);
  const old = cells[place] ?? { load: 0, ready: 0, costPerHour: 0 };
  const next = {
    load: mean(old.load, now.load),
    ready: mean(old.ready, now.ready),
    costPerHour: mean(old.costPerHour, now.costPerHour),
  };
  return [...cells.slice(0, place), next];
}

export function phases({ workers }: FleetSample): Record<'ready' | 'starting' | 'cold' | 'over', number> {
  const counts = { ready: 0, starting: 0, cold: 0, over: 0 };
  for (const [status, count] of Object.entries(workers)) counts[phaseOf(status) ?? 'over'] += count;
  return counts;
}
