/** One look at the workers of an endpoint: what was asked of them, what they could do, and what they cost just then. */

/** What is measured at each look, in the order in which it is kept and shown. Field names of `/api/fleet`. */
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
  /** Unix milliseconds at which the answer came. */
  readonly atMs: number;
  /** null: the service did not say, which is no zero. */
  readonly measures: Readonly<Record<Measure, number | null>>;
  /** By status in lower case; a status that the interface does not know counts as `unknown`. None that has no workers. */
  readonly workers: Readonly<Record<string, number>>;
}
