/** What the endpoints cost, in the status: today, this month, and what of it nobody needs. */
import * as z from 'zod';
import { MEASURES } from '../../fleet/workers/measure.ts';
import type { Figure } from '../../spend/hours.ts';
import type { SpendView } from '../../spend/spend-watch.ts';
import { count, metric } from './fact.ts';

const dollars = z.number().nullable();
const figure = z.object({ amount: z.number(), source: z.enum(['billed', 'told', 'estimated']) }).nullable();
type ShownFigure = z.infer<typeof figure>;

const bySource = {
  label: 'source',
  value: (shown: ShownFigure) => shown && { [shown.source]: shown.amount },
};

/** Of an endpoint. */
export const endpointSpend = {
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
};

/** Of all endpoints. */
export const fleetSpend = {
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
    .describe(
      'What the service does not tell of money, the permission that it takes, and whether that is missing',
    ),
};

export function endpointSpendStatus({ endpoints }: SpendView, label: string) {
  const { today, usualToday, month } = endpoints.get(label) ?? {};
  return {
    spend_today: shownFigure(today),
    spend_today_usual: usualToday ?? null,
    spend_month: shownFigure(month),
  };
}

export function fleetSpendStatus({ month, orphans, unanswered }: SpendView) {
  return {
    spend_month: shownFigure(month?.soFar),
    spend_month_forecast: month?.forecast?.expected ?? null,
    orphan_instances: orphans?.instances ?? null,
    orphan_spend_per_hour: orphans?.spendPerHour ?? null,
    spend_unanswered: shownUnanswered(unanswered),
  };
}

export function shownUnanswered(unanswered: SpendView['unanswered']) {
  return unanswered.map(({ permission, isMissing, error }) => ({ permission, is_missing: isMissing, error }));
}

export function shownFigure(known: Figure | undefined): ShownFigure {
  return known ? { amount: known.dollars, source: known.source } : null;
}
