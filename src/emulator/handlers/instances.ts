import { LIMITS } from '../../contract/limits.ts';
import { mergedValues, mergeLaunch } from '../../contract/merge.ts';
import type { Answer, Input } from '../../contract/operations.ts';
import { countCharacters } from '../../contract/schemas.ts';
import { parseRegistryLogin } from '../../contract/text/env-flags.ts';
import { badRequest, notFound, readFlags, Refused } from '../answer.ts';
import { deleteInstance, flickers, GPU } from '../fleet/workers.ts';
import {
  newInstance,
  startingSteps,
  startInstance,
  statusAt,
  stopInstance,
  type InstanceRecord,
  type OfferRecord,
} from '../state/instances.ts';
import { nextId, type State, type TemplateRecord } from '../state/state.ts';
import { ownOf, ownOne, pageFrom, withColumns, type HandlerContext, type HandlersOf } from './define.ts';
import { findTemplate, matchesFilters } from './templates.ts';

type InstanceRequest = Omit<Input<'instances.create'>, 'offer_id'>;

export const instanceHandlers: HandlersOf<'instances' | 'machines' | 'offers'> = {
  'instances.create': create,
  'instances.createByPost': create,

  /** A failed one does not stop the others. */
  'instances.createBulk': ({ ids, ...request }, context) => {
    const results = [...new Set(ids)].map((id) => createOne(id, request, context));
    const created = results.flatMap((result) => (result.success ? result.new_contract : []));
    const failed = results.filter(({ success }) => !success).map(({ ask_id }) => ask_id);
    if (created.length > 0) return { success: true, results, created, failed, elapsed: 0 };
    const why = results.map((result) => (result.success ? '' : result.msg)).join(' ');
    const fields = { results, created, failed };
    throw new Refused('bad_request', `ids: none could be rented: ${why}`, 'ids', { fields });
  },

  'instances.list': (_, context) => {
    if (context.state.traits.instances_v0 === '410') {
      const message = '/api/v0/instances/ is deprecated. Use /api/v1/instances/ instead.';
      const inPublic = { status: 410, message, code: 'deprecated_endpoint' };
      throw new Refused('not_found', message, 'instances_v0', { status: 410, inPublic });
    }
    const instances = ownRows(context);
    return { instances_found: instances.length, instances };
  },

  'instances.page': (query, context) => pageOf(ownRows(context), query),

  'instances.filters': (_, context) => {
    const combinations = Map.groupBy(ownRows(context), (row) => `${row.actual_status} ${row.gpu_name}`);
    return {
      filters: [...combinations.values()].flatMap(([row]) =>
        row ? [{ actual_status: row.actual_status, verification: 'verified', gpu_name: row.gpu_name }] : [],
      ),
    };
  },

  'instances.get': ({ id }, { state, user, nowMs }) => {
    const instance = state.instances.get(id);
    return { instances: instance?.userId === user.id ? instanceRow(instance, { state, nowMs }) : null };
  },

  'instances.update': ({ id, label, state: next }, context) => {
    const { state, nowMs } = context;
    const instance = ownOne(state.instances, id, context, 'instance');
    if (label === undefined && next === undefined) throw badRequest('label', 'needed, or state');
    if (label !== undefined) instance.label = label === '' ? null : label;
    if (next === 'stopped') stopInstance(instance, nowMs);
    if (next === 'running') startInstance(instance, state.settings, nowMs);
    return { success: true };
  },

  'instances.destroy': ({ id }, context) => {
    deleteInstance(context.state, ownOne(context.state.instances, id, context, 'instance').id, context.nowMs);
    return { success: true };
  },

  'offers.search': ({ limit, order = [], rentable = { eq: true }, ...filters }, { state }) => {
    const matching = Array.from(state.offers.values(), offerRow)
      .filter((row) => matchesFilters(row, { ...filters, rentable }))
      .sort((a, b) => inOrder(a, b, order));
    return { offers: matching.slice(0, limit) };
  },

  'machines.maintenances': ({ machine_ids, ctime }, { state, nowMs }) => {
    const nowSeconds = ctime ?? nowMs / 1000;
    // §4.1 names no error for unknown machines.
    return listedIds(machine_ids).flatMap((id) =>
      (state.machines.get(id)?.maintenances ?? []).filter(
        (window) => window.start_time + window.duration_hours * 3600 > nowSeconds,
      ),
    );
  },
};

type OfferRow = ReturnType<typeof offerRow>;

function offerRow(record: OfferRecord) {
  const { statuses: _, rented_by: holder, ...offer } = record;
  const gpu_total_ram = offer.gpu_ram * offer.num_gpus;
  const known = { gpu_total_ram, reliability: GPU.reliability, verified: true };
  return { ...offer, ...known, rentable: holder === null, rented: holder !== null };
}

function inOrder(a: OfferRow, b: OfferRow, order: readonly (readonly string[])[]): number {
  for (const [field = '', direction] of order) {
    const difference = compare(a[field as keyof OfferRow], b[field as keyof OfferRow]);
    if (difference !== 0) return direction === 'desc' ? -difference : difference;
  }
  return a.id - b.id;
}

/** §4.1 takes a number, a text or a list. */
function listedIds(ids: Input<'machines.maintenances'>['machine_ids']): number[] {
  if (typeof ids === 'number') return [ids];
  return [...new Set(typeof ids === 'string' ? ids.split(',').map(Number) : ids)];
}

type InstanceRow = ReturnType<typeof instanceRow>;

function instanceRow(instance: InstanceRecord, { state, nowMs }: Pick<HandlerContext, 'state' | 'nowMs'>) {
  const { launch } = instance;
  const { dph_total: price } = instance.hardware;
  const { values = {} } = launch ?? {};
  return {
    id: instance.id,
    ...instance.hardware,
    storage_total_cost: price === null ? null : price * state.settings.diskPriceShare,
    actual_status: flickers(state, instance.id, nowMs) ? 'loading' : statusAt(instance, nowMs),
    intended_status: instance.intendedStatus,
    label: instance.label,
    image_uuid: instance.image,
    image_runtype: values.runtype ?? null,
    image_args: values.args ?? values.args_str ?? null,
    disk_space: values.disk ?? null,
    onstart: values.onstart ?? null,
    volume_info: values.volume_info ?? null,
    extra_filters: values.extra_filters ?? null,
    template_id: launch?.template_id ?? null,
    template_hash_id: launch?.template_hash_id ?? null,
    start_date: instance.createdMs / 1000,
    extra_env: Object.entries(values.env ?? {}),
  };
}

function ownRows(context: HandlerContext): InstanceRow[] {
  return ownOf(context.state.instances, context).map((instance) => instanceRow(instance, context));
}

const MOST_ROWS = 25;
const ROWS_WITHOUT_LIMIT = 5;

function pageOf(
  rows: readonly InstanceRow[],
  {
    limit = MOST_ROWS,
    select_filters: filters = {},
    after_token: token,
    order_by: field = 'id',
    select_cols: columns = ['*'],
  }: Input<'instances.page'>,
): Answer<'instances.page'> {
  const matching = rows
    .filter((row) => matchesFilters(row, filters))
    .sort((a, b) => compare(a[field as keyof InstanceRow], b[field as keyof InstanceRow]) || a.id - b.id);
  const most = limit <= 0 ? ROWS_WITHOUT_LIMIT : Math.min(limit, MOST_ROWS);
  const { page, next_token } = pageFrom(matching, token, most);
  const instances = page.map((row) => withColumns(row, [...columns, 'id']));
  const labels = Map.groupBy(
    matching.flatMap(({ label }) => label ?? []),
    (label) => label,
  );
  return {
    instances_found: instances.length,
    instances,
    total_instances: matching.length,
    label_counts: Object.fromEntries([...labels].map(([label, { length }]) => [label, length])),
    next_token,
  };
}
function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return JSON.stringify(a ?? '').localeCompare(JSON.stringify(b ?? ''), 'en');
}

function createOne(offerId: number, request: InstanceRequest, context: HandlerContext) {
  try {
    const { new_contract } = create({ offer_id: offerId, ...request }, context);
    const state = request.target_state ?? 'running';
    return { ask_id: offerId, success: true as const, new_contract, state };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, message } = { code: error.code, message: error.message, ...error.inPublic };
    return { ask_id: offerId, success: false as const, error: code, msg: message };
  }
}

function create({ offer_id: offerId, ...request }: Input<'instances.create'>, context: HandlerContext) {
  const { state, user, nowMs } = context;
  const offer = freeOffer(state, offerId);
  const template = templateOf(state, request, user.id);
  const values = mergedValues(mergeLaunch(template?.content, request));
  const { image, label, image_login: loginText, ...launch } = values;
  const { target_state: intendedStatus = 'running' } = launch;
  if (image === undefined) throw badRequest('image', 'needed without a template (§4.3)');
  checkOnstart(launch.onstart, request);
  const login =
    loginText === undefined ? null : readFlags('image_login', () => parseRegistryLogin(loginText));

  const id = nextId(state, 'instance', state.instances.keys());
  offer.rented_by = id;
  if (template) {
    template.count_created += 1;
    template.recent_create_date = nowMs / 1000;
  }
  const { machine_id, gpu_name, num_gpus, gpu_ram, dph_total } = offer;
  const instance = newInstance({
    id,
    userId: user.id,
    hardware: { machine_id, gpu_name, num_gpus, gpu_ram, dph_total },
    label: label ?? null,
    image,
    createdMs: nowMs,
    // An instance that is to be stopped never starts.
    steps:
      intendedStatus === 'stopped'
        ? [{ actual_status: 'created' }]
        : (offer.statuses ?? startingSteps(state.settings)),
    intendedStatus,
    launch: {
      template_id: template?.id ?? null,
      template_hash_id: template?.hash_id ?? null,
      login: login && { registry: login.registry, user: login.user },
      values: { ...launch, disk: launch.disk ?? state.settings.instanceDiskGb },
    },
  });
  state.instances.set(id, instance);
  return { id: offerId, new_contract: id };
}

function freeOffer(state: State, offerId: number): OfferRecord {
  const offer = state.offers.get(offerId);
  if (offer && offer.rented_by === null) return offer;
  const why = offer ? 'is rented already' : 'does not exist';
  throw new Refused('invalid_offer', `offer ${offerId} is not available: it ${why}`, 'offer_id', {
    inPublic: {
      status: offer ? 410 : 404,
      code: 'no_such_ask',
      message: `Instance type ${offerId} is not available.`,
    },
  });
}

function templateOf(state: State, request: InstanceRequest, userId: number): TemplateRecord | undefined {
  const { template_hash_id: hashId } = request;
  if (hashId === undefined) return undefined;
  const template = findTemplate(state, hashId, userId);
  if (template) return template;
  throw notFound(`template with hash_id ${hashId}`, 'template_hash_id');
}

/** The contract checked the request's script; a template may hold a longer one. */
function checkOnstart(onstart: string | undefined, request: InstanceRequest): void {
  const length = countCharacters(onstart ?? '');
  if (length <= LIMITS.onstartLength) return;
  const whose = request.onstart === undefined ? "the template's script" : 'the script';
  const rule = `${whose} has ${length} characters, at most ${LIMITS.onstartLength} are taken (§8)`;
  throw badRequest('onstart', rule);
}
