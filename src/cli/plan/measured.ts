/** What a running daemon knows of an endpoint, as a plan needs it: parameters, performance, start times and prices. */
import { fleetHistorySchema } from '../../daemon/http/fleet/answer.ts';
import type { EndpointStatus } from '../../daemon/status/schema.ts';
import { billingOf } from '../../fleet/workers/status.ts';
import { SETTING_OPTIONS, type PlanSetting, type PlanSettings } from '../../scaling/planner/settings.ts';
import { InputError } from '../command-error.ts';
import { chosenEndpoints, DaemonAway, fetchJson, fetchStatus, fleetSchema } from '../fleet/daemon.ts';
import type { DaemonAddress } from '../fleet/daemon.ts';

export interface MeasuredEndpoint {
  /** Its name; the label of its set of parameters. */
  readonly label: string;
  /** As the service has them now. */
  readonly parameters: Readonly<Record<string, number | string>>;
  /** In place of the planner's defaults. */
  readonly settings: Partial<PlanSettings>;
  /** Flags that the daemon knows no value for. */
  readonly missing: readonly string[];
}

/** What a daemon can measure. */
const MEASURABLE = ['performance', 'startSeconds', 'coldStartSeconds', 'priceHot'] satisfies PlanSetting[];

/** @throws InputError if there is no such endpoint, or its parameters are not known yet; what fetchStatus throws */
export async function measuredEndpoint(
  daemon: DaemonAddress,
  wanted: string,
  signal: AbortSignal,
): Promise<MeasuredEndpoint> {
  const status = await fetchStatus(daemon, fleetSchema, signal);
  const [endpoint] = chosenEndpoints(status, wanted);
  if (!endpoint || Object.keys(endpoint.parameters).length === 0)
    throw new InputError(`--endpoint ${wanted}: the daemon does not know its parameters yet`);
  const { endpoint_group: label, parameters } = endpoint;
  const query = new URLSearchParams({ endpoint: label, from: '-1m', rows: '16', format: 'json' });
  const path = `/api/fleet?${query.toString()}`;
  const answer = fleetHistorySchema.safeParse(await fetchJson<unknown>(daemon, path, signal));
  if (!answer.success)
    throw new DaemonAway(
      `${daemon.url}/api/fleet: its answer cannot be read; is it a daemon of this version?`,
    );
  const { performance = [], start_seconds: starts } = answer.data.endpoints[0]?.measured ?? {};
  const speeds = performance.filter((speed) => speed > 0);
  const known: { readonly [Key in (typeof MEASURABLE)[number]]: PlanSettings[Key] | undefined } = {
    performance:
      speeds.length === 0
        ? undefined
        : { least: rounded(Math.min(...speeds)), most: rounded(Math.max(...speeds)) },
    startSeconds: meanOf(starts?.new ?? []),
    coldStartSeconds: meanOf(starts?.cold ?? []),
    priceHot: hotPrice(endpoint),
  };
  return {
    label,
    parameters: { ...parameters, endpoint_name: label },
    settings: Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    missing: MEASURABLE.filter((key) => known[key] === undefined).map((key) => SETTING_OPTIONS[key].flag),
  };
}

/** What the endpoint costs an hour, over the workers that have a GPU; storage of stopped ones is in it. */
function hotPrice({ spend_per_hour: spend, workers }: EndpointStatus): number | undefined {
  const running = Object.entries(workers ?? {})
    .filter(([status]) => billingOf(status) === 'compute')
    .reduce((sum, [, count]) => sum + count, 0);
  return spend === null || running === 0 ? undefined : rounded(spend / running);
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0
    ? undefined
    : rounded(values.reduce((sum, value) => sum + value, 0) / values.length);
}

/** No measurement is exact to more. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
