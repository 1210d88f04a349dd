/** An endpoint as a running daemon knows it: its parameters today, and what was measured of its workers and their prices. */
import type * as z from 'zod';
import { fleetHistorySchema } from '../../daemon/http/fleet/answer.ts';
import { billingOf, phaseOf } from '../../fleet/workers/status.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import { InputError } from '../command-error.ts';
import { DaemonAway, fetchJson, fetchStatus, fleetSchema, type DaemonAddress } from '../fleet/daemon.ts';
import { chosenEndpoints } from '../fleet/watch-fleet.ts';

export interface EndpointToday {
  readonly label: string;
  readonly group: Readonly<Record<string, number>>;
  /** What was measured of it, in place of the planner's assumptions. */
  readonly settings: Partial<PlanSettings>;
}

type History = z.infer<typeof fleetHistorySchema>['endpoints'][number];

/** @throws InputError for an endpoint that is not known, DaemonAway */
export async function endpointToday(
  name: string,
  daemon: DaemonAddress,
  signal: AbortSignal,
): Promise<EndpointToday> {
  const status = await fetchStatus(daemon, fleetSchema, signal);
  const [endpoint] = chosenEndpoints(status, name);
  if (!endpoint || Object.keys(endpoint.parameters).length === 0)
    throw new InputError(`${name}: the daemon does not know its parameters yet`);
  const label = endpoint.endpoint_group;
  const path = `/api/fleet?format=json&from=-24h&endpoint=${encodeURIComponent(label)}`;
  const read = fleetHistorySchema.safeParse(await fetchJson<unknown>(daemon, path, signal));
  if (!read.success)
    throw new DaemonAway(`${daemon.url}: its history cannot be read; is it of this version?`);
  const [history] = read.data.endpoints;
  return { label, group: endpoint.parameters, settings: history ? measuredSettings(history) : {} };
}

/** What was not measured is left to flags and assumptions. */
function measuredSettings({ measured, rows }: History): Partial<PlanSettings> {
  const { performance, start_seconds: starts } = measured;
  const [startSeconds, coldStartSeconds] = [starts.new, starts.cold].map(median);
  const works = performance.filter((units) => units > 0);
  return {
    ...(works.length > 0 ? { performance: { least: Math.min(...works), most: Math.max(...works) } } : {}),
    ...(startSeconds !== undefined && { startSeconds }),
    ...(coldStartSeconds !== undefined && { coldStartSeconds }),
    ...pricesOf(rows),
  };
}

/**
 * Spend = hot price × workers that run + cold price × those that keep a disk: the two that fit the rows best. One alone
 * where the other kind was never there; none where both are, in the same proportion all the time.
 */
function pricesOf(rows: History['rows']): Partial<PlanSettings> {
  let [hotHot, hotCold, coldCold, hotSpend, coldSpend] = [0, 0, 0, 0, 0];
  for (const { spend_per_hour: spend, workers } of rows) {
    if (!spend) continue;
    const count = (takes: (status: string) => boolean) =>
      Object.entries(workers).reduce((sum, [status, { mean }]) => sum + (takes(status) ? mean : 0), 0);
    const hot = count((status) => billingOf(status) === 'compute');
    const cold = count((status) => billingOf(status) === 'storage' && phaseOf(status) === 'cold');
    hotHot += hot * hot;
    hotCold += hot * cold;
    coldCold += cold * cold;
    hotSpend += hot * spend.mean;
    coldSpend += cold * spend.mean;
  }
  if (coldCold === 0) return hotHot === 0 ? {} : { priceHot: hotSpend / hotHot };
  if (hotHot === 0) return { priceCold: coldSpend / coldCold };
  const determinant = hotHot * coldCold - hotCold ** 2;
  if (determinant < 1e-6 * hotHot * coldCold) return {};
  const priceHot = (hotSpend * coldCold - coldSpend * hotCold) / determinant;
  const priceCold = (coldSpend * hotHot - hotSpend * hotCold) / determinant;
  return priceHot > 0 ? { priceHot, priceCold: Math.max(0, priceCold) } : {};
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}
