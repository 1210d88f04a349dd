/** Makes a sample of the workers that an answer lists. */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { amount, billingOf, type FoundMeaning, type Phase, phaseOf, statusOf, UNKNOWN } from './reports.ts';

/** In the order of storage and display, with the field names of `/api/fleet`. */
export const MEASURES = {
  load: 'Work asked of its workers, units a second (sum of cur_load); unknown unless that is what they report',
  load_average: 'The same, as the service averages it (sum of cur_load_rolling_avg)',
  load_in_flight:
    'Units of work waiting or being done in its workers (sum of cur_load); unknown unless that is what they report',
  capacity_hot: 'What its ready workers can do, units a second (sum of perf)',
  capacity_cold: 'What its stopped workers could do, units a second (sum of perf)',
  requests_working: 'Requests in its workers (sum of reqs_working)',
  spend_per_hour:
    'What its workers cost an hour, estimated from the price of their instances and their status',
  spend_told_per_hour: 'What the service says that the endpoint costs an hour',
  spend_idle_per_hour: 'Of the estimate: ready workers without requests',
  spend_starting_per_hour: 'Of the estimate: workers that load or start',
  spend_stopped_per_hour: 'Of the estimate: stopped workers, and those that stop',
} as const;
export type Measure = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as Measure[];

export const NOTHING_MEASURED = Object.fromEntries(MEASURE_NAMES.map((name) => [name, null])) as Readonly<
  Record<Measure, null>
>;

export interface FleetSample {
  readonly atMs: number;
  /** null: not known, which is not 0. */
  readonly measures: Readonly<Record<Measure, number | null>>;
  /** By status in lower case; statuses without workers are missing. */
  readonly workers: Readonly<Record<string, number>>;
}

export interface Price {
  /** Dollars an hour while it runs, storage included. */
  readonly running: number | undefined;
  /** Storage alone: what a stopped instance costs. */
  readonly storage: number | undefined;
  /** By the instance's own status. */
  readonly now?: number | undefined;
}

export type Prices = ReadonlyMap<number, Price>;

export interface WorkersAnswer {
  readonly workers: readonly Worker[];
  /** Rows that could not be read. */
  readonly unreadable: number;
}

/**
 * Steps a unit in which each measure is kept. The history adds whole steps, so that sums are exact in any
 * order.
 */
export const STEPS = Object.fromEntries(
  MEASURE_NAMES.map((name) => [name, name.startsWith('spend_') ? 1_000_000 : 1_000]),
) as Readonly<Record<Measure, number>>;

export interface CostContext {
  readonly prices: Prices;
  /** Dollars an hour that the service tells. */
  readonly told?: number | undefined;
  /** A reboot is billed as the status before it. */
  readonly statusBeforeReboot?: (workerId: number) => string | undefined;
}

/**
 * A sum is unknown, not too small, if a worker that counts for it reports nothing: silence is not idleness.
 */
export function measure(
  { workers, unreadable }: WorkersAnswer,
  { prices, told, statusBeforeReboot }: CostContext,
  atMs: number,
  meaning: FoundMeaning['meaning'],
): FleetSample {
  const inPhase = (phase: Phase) => workers.filter((worker) => phaseOf(statusOf(worker)) === phase);
  const [ready, cold] = [inPhase('ready'), inPhase('cold')];
  const load = sumOfAll(workers, ready, ({ cur_load }) => cur_load);
  const average = sumOfAll(workers, ready, ({ cur_load_rolling_avg }) => cur_load_rolling_avg);
  const cost = (worker: Worker): number | undefined => {
    const status = statusOf(worker);
    const billed = status === 'rebooting' ? statusBeforeReboot?.(worker.id) : undefined;
    return costPerHour(billed ?? status, prices.get(worker.id));
  };
  // A ready worker at work has no idle cost; without a count, it may be idle.
  const idle = ready.map((worker) => {
    if (worker.reqs_working === 0) return cost(worker);
    return amount(worker.reqs_working) === undefined ? undefined : 0;
  });
  const sums = {
    load: meaning === 'rate' ? load : undefined,
    load_average: meaning === 'rate' ? average : undefined,
    load_in_flight: meaning === 'in flight' ? load : undefined,
    capacity_hot: sum(ready.map(performance)),
    capacity_cold: sum(cold.map(performance)),
    requests_working: sumOfAll(workers, ready, ({ reqs_working }) => reqs_working),
    spend_per_hour: sum(workers.map(cost)),
    spend_told_per_hour: amount(told),
    spend_idle_per_hour: sum(idle),
    spend_starting_per_hour: sum(inPhase('starting').map(cost)),
    spend_stopped_per_hour: sum(cold.map(cost)),
  };
  const measures = Object.fromEntries(
    Object.entries(sums).map(([name, value]) => [
      name,
      (unreadable > 0 && name !== 'spend_told_per_hour') || value === undefined
        ? null
        : inSteps(value, STEPS[name as Measure]),
    ]),
  ) as Record<Measure, number | null>;
  return { atMs, measures, workers: countStatuses(workers, unreadable) };
}

function countStatuses(workers: readonly Worker[], unreadable: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const worker of workers) {
    const status = statusOf(worker);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  if (unreadable > 0) counts[UNKNOWN] = (counts[UNKNOWN] ?? 0) + unreadable;
  return counts;
}

/** Ready workers must report their part; if there are workers, at least one must. */
function sumOfAll(
  workers: readonly Worker[],
  ready: readonly Worker[],
  part: (worker: Worker) => number | null | undefined,
): number | undefined {
  if (ready.some((worker) => amount(part(worker)) === undefined)) return undefined;
  const parts = workers.flatMap((worker) => amount(part(worker)) ?? []);
  return parts.length === 0 && workers.length > 0 ? undefined : sum(parts);
}

function sum(parts: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const part of parts) {
    if (part === undefined) return undefined;
    total += part;
  }
  return total;
}

/** The service's own figure, else the benchmark of the worker. */
function performance({ perf, measured_perf }: Worker): number | undefined {
  return amount(perf) ?? amount(measured_perf);
}

/** Unknown storage prices count as 0: they are small, and few services tell them. */
export function costPerHour(status: string, price: Price | undefined): number | undefined {
  const billing = billingOf(status);
  if (billing === 'compute') return amount(price?.running);
  return billing === 'storage' ? (amount(price?.storage) ?? 0) : 0;
}

/** null: too large to be kept exactly. */
function inSteps(value: number, steps: number): number | null {
  const whole = Math.round(value * steps);
  return Number.isSafeInteger(whole) ? whole / steps : null;
}
