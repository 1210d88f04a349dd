/** One look at the workers of an endpoint. */

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

export const NOTHING_MEASURED = Object.fromEntries(
  Object.keys(MEASURES).map((name) => [name, null]),
) as Readonly<Record<Measure, null>>;

export interface FleetSample {
  readonly atMs: number;
  /** null: not known, which is not 0. */
  readonly measures: Readonly<Record<Measure, number | null>>;
  /** By status in lower case; statuses without workers are missing. */
  readonly workers: Readonly<Record<string, number>>;
}
