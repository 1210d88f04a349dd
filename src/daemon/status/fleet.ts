/** The watched endpoints in the status. */
import * as z from 'zod';
import type { Settings } from '../../config/options.ts';
import { WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';
import type { EndpointView, FleetView } from '../../fleet/view.ts';
import { MEASURES, NOTHING_MEASURED, type Measure } from '../../fleet/workers/measure.ts';
import type { Figure } from '../../spend/hours.ts';
import type { SpendView } from '../../spend/spend-watch.ts';
import { count, LABELS, metric, oneOf, seconds, time, type Show, type Shown } from './fact.ts';
import { bySeverity, finding } from './watches.ts';

const NO_WORKERS = Object.fromEntries([...WORKER_STATUSES, 'unknown'].map((status) => [status, 0]));
const LOAD_MEANINGS = ['in flight', 'rate', 'unknown'] as const;
/** An older sample says nothing about now, so its series end. */
const STALE_AFTER_INTERVALS = 4;

type Sampled = Readonly<Record<Measure | 'last_sample_at', number | null>>;

interface Moment {
  readonly now: number;
  readonly fleet: { readonly sample_interval_seconds: number };
}

/** Absent once the sample is stale. */
function sampled<Type extends z.ZodType>(
  type: Type,
  name: string,
  help: string,
  { label, value = (fact) => fact as Shown }: Show<z.output<Type>, Sampled> = {},
): Type {
  return metric<Type, Sampled, Moment>(type, name, help, {
    ...(label !== undefined && { label }),
    value(fact, endpoint, moment) {
      const oldest = moment.now - STALE_AFTER_INTERVALS * moment.fleet.sample_interval_seconds;
      const { last_sample_at: at } = endpoint;
      return at !== null && at >= oldest ? value(fact, endpoint, moment) : null;
    },
  });
}

const measure = z.number().nullable();

const drift = z.object({
  parameter: z.string(),
  actual: z.union([z.number(), z.string()]).nullable().describe('As the service has it'),
  wanted: z.union([z.number(), z.string()]).describe('As PILOTLIGHT_ENDPOINT_GROUPS has it'),
});

const namedTrouble = z.object({
  severity: z.enum(['critical', 'warning']),
  since: time.describe('Of the first look that saw it'),
  says: z.string().describe("Why it is thought so; goes on from the endpoint's name"),
});

const dollars = z.number().nullable();
const figure = z.object({ amount: z.number(), source: z.enum(['billed', 'told', 'estimated']) }).nullable();
type ShownFigure = z.infer<typeof figure>;

const bySource = {
  label: 'source',
  value: (shown: ShownFigure) => shown && { [shown.source]: shown.amount },
};

const endpoint = z.object({
  endpoint_group: z.string().describe('Its name; name#2 for the second that shares it; #ID if it has none'),
  endpoint_id: count,
  state: z.string().nullable().describe('active, suspended or stopped'),
  last_sample_at: metric(
    time.nullable(),
    'endpoint_last_sample_timestamp_seconds',
    "When the last look at the endpoint's workers succeeded; 0 in the metric before the first.",
    { value: (at) => at ?? 0 },
  ),
  last_error: z.string().nullable().describe('Why the last look failed; null when it did not'),
  load: sampled(measure, 'endpoint_load', MEASURES.load),
  load_average: measure.describe(MEASURES.load_average),
  load_in_flight: sampled(measure, 'endpoint_load_in_flight', MEASURES.load_in_flight),
  load_meaning: sampled(
    z.enum(LOAD_MEANINGS),
    'endpoint_load_meaning',
    'What its workers report as cur_load; the label of the series that is 1. Loads are shown only if it is known.',
    { label: 'meaning', value: oneOf(LOAD_MEANINGS) },
  ),
  load_because: z.string().describe('Why the meaning of the load is known, or is not'),
  capacity_hot: sampled(
    measure,
    'endpoint_capacity',
    `${MEASURES.capacity_hot}; in the metric also cold: stopped ones`,
    { label: 'state', value: (hot, { capacity_cold: cold }) => ({ hot, cold }) },
  ),
  capacity_cold: measure.describe(MEASURES.capacity_cold),
  requests_working: sampled(measure, 'endpoint_requests_working', MEASURES.requests_working),
  spend_per_hour: sampled(
    measure,
    'endpoint_spend_per_hour',
    `${MEASURES.spend_per_hour}; in the metric also told: by the service`,
    { label: 'source', value: (estimated, { spend_told_per_hour: told }) => ({ told, estimated }) },
  ),
  spend_idle_per_hour: sampled(
    measure,
    'endpoint_idle_spend_per_hour',
    `${MEASURES.spend_idle_per_hour}; in the metric also starting: workers that load or start`,
    { label: 'state', value: (idle, { spend_starting_per_hour: starting }) => ({ idle, starting }) },
  ),
  spend_starting_per_hour: measure.describe(MEASURES.spend_starting_per_hour),
  spend_told_per_hour: dollars.describe(MEASURES.spend_told_per_hour),
  spend_stopped_per_hour: dollars.describe(MEASURES.spend_stopped_per_hour),
  spend_today: metric(
    figure,
    'endpoint_spend_today',
    'What the endpoint has cost since midnight UTC, dollars, as far as it was seen.',
    bySource,
  ),
  spend_today_usual: metric(
    dollars,
    'endpoint_spend_today_usual',
    'What the same hours cost on the seven days before, on average; absent with fewer than three of them.',
  ),
  spend_month: figure.describe('What the endpoint has cost in this month, dollars'),
  workers: sampled(
    z.record(z.string(), count).nullable(),
    'endpoint_workers',
    'Workers of the endpoint by status, in its last sample; unknown: of no status, or none that could be read.',
    { label: 'status', value: (workers) => workers && { ...NO_WORKERS, ...workers } },
  ),
  parameters: metric(
    z.record(z.string(), z.number()),
    'endpoint_parameter',
    'Numeric parameters of the endpoint, as far as the service tells them now; none until it was asked.',
    { label: 'parameter' },
  ),
  drift: metric(
    z.array(drift),
    'endpoint_parameter_drift',
    'Parameters that are not what PILOTLIGHT_ENDPOINT_GROUPS says; 1 in the metric for each.',
    {
      label: 'parameter',
      value: (drifting) => Object.fromEntries(drifting.map(({ parameter }) => [parameter, 1])),
    },
  ),
  findings: metric(
    z.array(finding),
    'endpoint_violations',
    'Rules that the parameters break which the service has, by severity; absent until it was asked.',
    {
      label: 'severity',
      value: (findings, { parameters }: { readonly parameters: object }) =>
        Object.keys(parameters).length === 0 ? null : bySeverity(findings),
    },
  ),
  stuck_workers: sampled(
    count,
    'endpoint_stuck_workers',
    'Workers that have been loading far longer than their like.',
  ),
  failing_workers: sampled(count, 'endpoint_failing_workers', 'Workers that fail again and again.'),
  troubles: sampled(
    z.record(z.string(), namedTrouble.nullable()),
    'endpoint_trouble',
    'Whether the endpoint has this trouble: 1 while it lasts, 0 if not; absent while it cannot be judged.',
    {
      label: 'trouble',
      value: (troubles) =>
        Object.fromEntries(Object.entries(troubles).map(([name, has]) => [name, Number(has !== null)])),
    },
  ),
});

LABELS.add(endpoint, { labels: ['endpoint_group'] });

type Watching = Readonly<Record<'configured' | 'samples', boolean>>;

export const fleet = z.object({
  configured: z.boolean().describe('Whether PILOTLIGHT_ENDPOINTS names any'),
  samples: metric(
    z.boolean(),
    'fleet_samples',
    'Whether this replica looks at the endpoints; another may. Absent without PILOTLIGHT_ENDPOINTS.',
    { value: (samples, { configured }: Watching) => (configured ? samples : null) },
  ),
  sample_interval_seconds: metric(
    seconds,
    'fleet_sample_interval_seconds',
    'Time between two looks at the workers of the endpoints.',
  ),
  budget_per_hour: metric(
    z.number().nullable(),
    'fleet_budget_per_hour',
    'PILOTLIGHT_BUDGET_PER_HOUR: what all endpoints together may cost an hour; absent without it.',
  ),
  budget_per_month: metric(
    dollars,
    'fleet_budget_per_month',
    'PILOTLIGHT_BUDGET_PER_MONTH: what all endpoints together may cost in a calendar month (UTC); absent without it.',
  ),
  spend_month: metric(
    figure,
    'fleet_spend_month',
    'What all watched endpoints have cost in this month (UTC), dollars.',
    bySource,
  ),
  spend_month_forecast: metric(
    dollars,
    'fleet_spend_month_forecast',
    'What the month will come to, by weekday from the last four weeks; absent before a whole day is known.',
  ),
  orphan_instances: metric(
    count.nullable(),
    'orphan_instances',
    'Instances that were workers of watched endpoints, are workers no more, and are still there; absent until the instances were listed.',
  ),
  orphan_spend_per_hour: metric(
    dollars,
    'orphan_spend_per_hour',
    'What these instances cost an hour, by their price and status.',
  ),
  spend_unanswered: z
    .array(z.object({ permission: z.string(), is_missing: z.boolean(), error: z.string() }))
    .describe('Costs that the service does not tell: the permission for them, and whether the key lacks it'),
  history: z.enum(['disk', 'memory']).describe('memory: gone at the end of the process'),
  history_trouble: metric(
    z.string().nullable(),
    'fleet_history_stored',
    'Why the history of endpoints is not being stored. In the metric 1 while it takes what this replica sees, 0 while it does not; absent if this replica does not look.',
    {
      value: (trouble, { configured, samples }: Watching) =>
        configured && samples ? trouble === null : null,
    },
  ),
  endpoints: z.array(endpoint),
});

export type ShownSettings = Pick<
  Settings,
  'endpoints' | 'fleetInterval' | 'budgetPerHour' | 'budgetPerMonth'
>;

export function fleetStatus(view: FleetView, settings: ShownSettings): z.infer<typeof fleet> {
  const { endpoints, fleetInterval, budgetPerHour, budgetPerMonth } = settings;
  const { month, orphans, unanswered } = view.spend;
  return {
    configured: endpoints.length > 0,
    samples: view.samples,
    sample_interval_seconds: fleetInterval / 1000,
    budget_per_hour: budgetPerHour ?? null,
    budget_per_month: budgetPerMonth ?? null,
    spend_month: shownFigure(month?.soFar),
    spend_month_forecast: month?.forecast?.expected ?? null,
    orphan_instances: orphans?.instances ?? null,
    orphan_spend_per_hour: orphans?.spendPerHour ?? null,
    spend_unanswered: shownUnanswered(unanswered),
    history: view.history,
    history_trouble: view.historyTrouble ?? null,
    endpoints: view.endpoints.map((one) => endpointStatus(one, view.spend)),
  };
}

function endpointStatus(view: EndpointView, spend: SpendView) {
  const { sample, sampledAtMs } = view;
  const { today, usualToday, month } = spend.endpoints.get(view.endpoint) ?? {};
  return {
    endpoint_group: view.endpoint,
    endpoint_id: view.id,
    state: view.state ?? null,
    last_sample_at: sampledAtMs === undefined ? null : sampledAtMs / 1000,
    last_error: view.lastError ?? null,
    ...(sample?.measures ?? NOTHING_MEASURED),
    load_meaning: view.load.meaning,
    load_because: view.load.because,
    spend_today: shownFigure(today),
    spend_today_usual: usualToday ?? null,
    spend_month: shownFigure(month),
    workers: sample?.workers ?? null,
    parameters: view.parameters,
    drift: [...view.drift],
    findings: [...view.findings],
    stuck_workers: view.stuckWorkers,
    failing_workers: view.failingWorkers,
    troubles: Object.fromEntries(
      Object.entries(view.troubles).map(([name, has]) => {
        return [name, has && { severity: has.severity, since: has.sinceMs / 1000, says: has.says }];
      }),
    ),
  };
}

export function shownUnanswered(unanswered: SpendView['unanswered']) {
  return unanswered.map(({ permission, isMissing, error }) => ({ permission, is_missing: isMissing, error }));
}

export function shownFigure(known: Figure | undefined): ShownFigure {
  return known ? { amount: known.dollars, source: known.source } : null;
}
