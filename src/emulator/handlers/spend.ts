import type { Answer, Input } from '../../contract/operations.ts';
import type { Charge } from '../../contract/operations/spend.ts';
import { placeOf } from '../fleet/workers.ts';
import {
  BILLED,
  countUsage,
  statusAt,
  type FormerInstance,
  type InstanceRecord,
} from '../state/instances.ts';
import type { Settings } from '../state/settings.ts';
import { matchesFilters } from './templates.ts';
import { ownOf, pageFrom, type HandlerContext, type HandlersOf } from './define.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROWS_WITHOUT_LIMIT = 100;

export const spendHandlers: HandlersOf<'serverless' | 'charges'> = {
  'serverless.endpointsSpend': (_, context) => ({
    endpoints: ratesOf([...context.state.endpointGroups.values()], 'endpointId', context),
    data_timestamp: context.nowMs / 1000,
  }),

  'serverless.workergroupsSpend': (_, context) => ({
    workergroups: ratesOf([...context.state.workerGroups.values()], 'groupId', context),
    data_timestamp: context.nowMs / 1000,
  }),

  'charges.list': (query, context) => {
    const { format, latest_first: latestFirst = true, limit = ROWS_WITHOUT_LIMIT } = query;
    const charged = contractsOf(context).flatMap((contract) =>
      chargeOf(contract, query, context.state.settings),
    );
    const rows = (format === 'tree' ? treeOf(charged) : charged).toSorted((a, b) => startOf(a) - startOf(b));
    if (latestFirst) rows.reverse();
    const { page, next_token } = pageFrom(rows, query.after_token, limit);
    return { count: page.length, total: rows.length, results: page, next_token };
  },
};

/** Volumes have no price here. */
export function spendRate(context: HandlerContext): Answer<'users.spendRate'> {
  const instances = ownOf(context.state.instances, context);
  const costs = instances.map((instance) => costNow(instance, context) ?? { gpu: 0, disk: 0 });
  return {
    gpu_cost_per_hour: sum(costs.map(({ gpu }) => gpu)),
    container_storage_cost_per_hour: sum(costs.map(({ disk }) => disk)),
    volume_storage_cost_per_hour: 0,
    has_active_resources: instances.length > 0,
  };
}

function ratesOf(
  things: readonly { readonly id: number; readonly userId: number }[],
  by: 'endpointId' | 'groupId',
  context: HandlerContext,
) {
  const { state, user } = context;
  const instances = Map.groupBy(state.instances.values(), ({ id }) => placeOf(state, id)[by]);
  return things
    .filter(({ userId }) => userId === user.id)
    .map(({ id }) => {
      const costs = (instances.get(id) ?? []).map((instance) => costNow(instance, context));
      const isKnown = costs.every((cost) => cost !== null);
      return { id, hourly_spend: isKnown ? sum(costs.map(({ gpu, disk }) => gpu + disk)) : null };
    });
}

function costNow(instance: InstanceRecord, { state, nowMs }: HandlerContext) {
  const { gpu, disk } = BILLED[statusAt(instance, nowMs)];
  return costOf(instance, { gpuMs: gpu ? HOUR_MS : 0, diskMs: disk ? HOUR_MS : 0 }, state.settings);
}

/** null without a price. */
function costOf(
  { hardware: { dph_total: price } }: InstanceRecord,
  { gpuMs, diskMs }: { readonly gpuMs: number; readonly diskMs: number },
  { diskPriceShare }: Settings,
) {
  if (price === null) return null;
  return {
    gpu: (price * (1 - diskPriceShare) * gpuMs) / HOUR_MS,
    disk: (price * diskPriceShare * diskMs) / HOUR_MS,
  };
}

function contractsOf(context: HandlerContext): FormerInstance[] {
  const { state, user, nowMs } = context;
  const living = ownOf(state.instances, context).map((instance) => {
    countUsage(instance, nowMs);
    return Object.assign({ instance }, placeOf(state, instance.id));
  });
  return [...state.formerInstances.filter(({ instance }) => instance.userId === user.id), ...living];
}

function chargeOf(
  { instance, endpointId, groupId }: FormerInstance,
  { select_filters: { day, type } }: Input<'charges.list'>,
  settings: Settings,
): Charge[] {
  if (!matchesFilters({ type: endpointId === null ? 'instance' : 'serverless' }, { type })) return [];
  const days = instance.usage.days.filter(({ dayMs }) => matchesFilters({ day: dayMs / 1000 }, { day }));
  const [first, last] = [days[0], days.at(-1)];
  const used = { gpuMs: sum(days.map(({ gpuMs }) => gpuMs)), diskMs: sum(days.map(({ diskMs }) => diskMs)) };
  const cost = costOf(instance, used, settings);
  if (!first || !last || cost === null) return [];
  const { id, hardware, createdMs, usage } = instance;
  const start = Math.max(first.dayMs, createdMs) / 1000;
  const end = Math.min(last.dayMs + DAY_MS, usage.untilMs) / 1000;
  const span = { start, end };
  const source = `instance-${id}`;
  const part = (kind: 'gpu' | 'disk') => ({ type: kind, source, ...span, amount: rounded(cost[kind]) });
  return [
    {
      type: 'instance',
      source,
      description: `${hardware.num_gpus}x ${hardware.gpu_name}`,
      ...span,
      amount: rounded(cost.gpu + cost.disk),
      metadata: { endpoint_id: endpointId, workergroup_id: groupId },
      items: [part('gpu'), part('disk')],
    },
  ];
}

function treeOf(rows: readonly Charge[]): Charge[] {
  const byEndpoint = Map.groupBy(rows, ({ metadata }) => metadata?.endpoint_id ?? null);
  return [...byEndpoint].flatMap(([endpoint, below]) => {
    if (endpoint === null) return below;
    const byGroup = Map.groupBy(below, ({ metadata }) => metadata?.workergroup_id ?? null);
    const groups = [...byGroup].map(([group, items]) => wrapped(`workergroup-${group}`, items));
    return [{ ...wrapped(`endpoint-${endpoint}`, groups), metadata: { endpoint_id: endpoint } }];
  });
}

function wrapped(source: string, items: readonly Charge[]): Charge {
  return {
    type: 'serverless',
    source,
    description: `${items.length} below`,
    start: Math.min(...items.map(startOf)),
    end: Math.max(...items.map(({ end }) => end ?? 0)),
    amount: rounded(sum(items.map(({ amount }) => amount))),
    metadata: {},
    items: [...items],
  };
}

function startOf({ start }: Charge): number {
  return start ?? 0;
}

function sum(numbers: readonly number[]): number {
  const total = numbers.reduce((before, one) => before + one, 0);
  // Removes rounding errors of binary fractions.
  return Math.round(total * 1e6) / 1e6;
}

function rounded(dollars: number): number {
  return Math.round(dollars * 1000) / 1000;
}
