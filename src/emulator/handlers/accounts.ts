/** Users, API keys and team roles (§2.4 to §2.6), and second factors. */
import { DAY_MS, HOUR_MS } from '../../contract/times.ts';
import { LIMITS } from '../../contract/limits.ts';
import { operationOf, type Input, type OperationId } from '../../contract/operations.ts';
import type { Charge } from '../../contract/operations/spend.ts';
import { TFA_METHODS } from '../../contract/operations/tfa/tfa.ts';
import { notFound, Refused } from '../answer.ts';
import { isSession } from '../call.ts';
import { placeOf } from '../fleet/workers.ts';
import { randomHex, type Random } from '../random.ts';
import {
  BILLED,
  countUsage,
  statusAt,
  type FormerInstance,
  type InstanceRecord,
} from '../state/instances.ts';
import type { Settings } from '../state/settings.ts';
import { nextId, type ApiKeyRecord, type State, type UserRecord } from '../state/state.ts';
import {
  invalidBackupCode,
  invalidMethod,
  newTotpSecret,
  provisioningUri,
  resendSms,
  sendEmail,
  sendSms,
  tfaStatusOf,
  viewMethod,
} from '../tfa/account.ts';
import {
  beginAuthorization,
  completeLogin,
  confirmAuthorization,
  confirmNew,
  regenerateBackupCodes,
  removeMethod,
  updateMethod,
} from '../tfa/operations.ts';
import { ownOf, pageFrom, type Handler, type HandlerContext, type HandlersOf } from './define.ts';
import { matchesFilters } from './templates.ts';

export const accountHandlers: HandlersOf<'apiKeys' | 'teams' | 'users'> = {
  /** A new key has the context of its creator. */
  'apiKeys.create': ({ name, permissions = null }, { state, key, random }) => {
    const { userId, team } = key;
    const value = freshValue(state, random);
    return {
      id: storeKey(state, value, { name, userId, permissions, team, byTfa: isSession(key) }),
      key: value,
    };
  },

  'apiKeys.list': (_, context) => ({
    apikeys: ownOf(context.state.keys, context)
      .sort((a, b) => a.id - b.id)
      .map(shownKey),
  }),

  'apiKeys.get': ({ id }, context) => shownKey(ownKey(id, context)[1]),

  'apiKeys.delete': ({ id }, context) => {
    context.state.keys.delete(ownKey(id, context)[0]);
    return { success: true };
  },

  'apiKeys.reset': (_, { state, key, random }) => {
    const [value] = [...state.keys].find(([, { id }]) => id === key.id) ?? [];
    if (value === undefined)
      throw new Refused('forbidden', 'a session_key is no API key, and cannot be reset', 'authorization');
    const newValue = freshValue(state, random);
    state.keys.delete(value);
    state.keys.set(newValue, key);
    return { new_api_key: newValue };
  },

  'teams.createRole': ({ name, permissions }, { state, key, user: { team_id }, nowMs }) => {
    if (!key.team) throw new Refused('team_required', 'this key does not act for a team', 'authorization');
    if ([...state.teamRoles.values()].some((role) => role.team_id === team_id && role.name === name))
      throw new Refused('duplicate_role', `there is a role "${name}" already`, 'name');
    const id = nextId(state, 'team role', state.teamRoles.keys());
    state.teamRoles.set(id, { id, team_id, name, permissions, created_at: nowMs / 1000 });
    return { msg: `Role ${name} created` };
  },

  'users.current': (_, { user }) => viewUser(user),
  /** Volumes have no price here. */
  'users.spendRate': (_, context) => {
    const instances = ownOf(context.state.instances, context);
    const costs = instances.map((instance) => costNow(instance, context) ?? { gpu: 0, disk: 0 });
    return {
      gpu_cost_per_hour: sum(costs.map(({ gpu }) => gpu)),
      container_storage_cost_per_hour: sum(costs.map(({ disk }) => disk)),
      volume_storage_cost_per_hour: 0,
      has_active_resources: instances.length > 0,
    };
  },
};

function viewUser(user: UserRecord) {
  const { team_id: _, tfa, ...shown } = user;
  return { ...shown, tfa_status: tfaStatusOf(tfa) };
}

function ownKey(id: number, { state, user }: HandlerContext): [value: string, key: ApiKeyRecord] {
  const found = [...state.keys].find(([, key]) => key.id === id && key.userId === user.id);
  if (found) return found;
  throw notFound(`API key ${id}`);
}

function shownKey({ id, name, userId, permissions }: ApiKeyRecord) {
  return { id, name, permissions, key_type: 'api', user_id: userId };
}

/** Journal, faults and admin API name keys so; the oldest wins. */
export function findKey(state: State, name: string): [value: string, key: ApiKeyRecord] | undefined {
  return [...state.keys].find(([, key]) => key.name === name);
}

export function storeKey(state: State, value: string, key: Omit<ApiKeyRecord, 'id'>): number {
  const taken = [...state.keys.values()].map(({ id }) => id);
  const id = nextId(state, 'api key', taken);
  state.keys.set(value, { id, ...key });
  return id;
}

function freshValue(state: State, random: Random): string {
  const value = randomHex(random, 32);
  return state.keys.has(value) ? freshValue(state, random) : value;
}

export const tfaHandlers: HandlersOf<'tfa'> = {
  'tfa.status': personal((_, { user, nowMs }) => ({
    success: true,
    tfa_enabled: user.tfa.methods.length > 0 || user.tfa.legacy,
    methods: user.tfa.methods.map((method) => viewMethod(method, user.id, nowMs)),
    backup_codes_remaining: user.tfa.backupCodes.length,
    new_method_authorized: nowMs < (user.tfa.authorizedUntilMs ?? -Infinity),
  })),

  'tfa.login': personal((input, context) => {
    const { sessionKey, ...login } = completeLogin(context, input);
    const user = { ...viewUser(context.user), ...login };
    if (!context.loggedOut) return { ...user, session_key: sessionKey };
    context.headers['set-cookie'] = `session=${sessionKey}; Path=/; HttpOnly; SameSite=Lax`;
    return user;
  }),

  'tfa.sendEmail': personal((input, context) => sendEmail(context, input)),
  'tfa.sendSms': personal((input, context) => sendSms(context, input, 'tfa.sendSms')),
  'tfa.resendSms': personal((input, context) => resendSms(context, input, 'tfa.resendSms')),

  'tfa.setupTotp': personal((_, { user, random }) => {
    const secret = newTotpSecret(random);
    return { secret, provisioning_uri: provisioningUri(secret, user.email ?? user.username) };
  }),
  'tfa.authorizeNewMethod': personal((input, context) => beginAuthorization(context, input)),
  'tfa.confirmAuthorization': personal((input, context) => confirmAuthorization(context, input)),
  'tfa.confirmNew': personal((input, context) => confirmNew(context, input)),
  'tfa.update': personal((input, context) => updateMethod(context, input)),
  'tfa.remove': personal((input, context) => removeMethod(context, input)),
  'tfa.regenerateBackupCodes': personal((input, context) => regenerateBackupCodes(context, input)),

  'tfa.test': personal((input, context) => sendSms(context, input, 'tfa.test')),
  'tfa.resend': personal((input, context) => resendSms(context, input, 'tfa.resend')),
  'tfa.testSubmit': personal((input, context) => {
    if (!context.user.tfa.legacy) return confirmNew(context, input);
    throw new Refused('untracked_2fa_found', 'regenerate your backup codes first', 'tfa_status');
  }),
};

/** §5.5: 2FA needs the personal context. @throws Refused team_user_forbidden */
function personal<Id extends OperationId>(handler: Handler<Id>): Handler<Id> {
  return (input, context) => {
    if (context.key.team)
      throw new Refused('team_user_forbidden', '2FA is not managed in a team', 'authorization');
    return handler(input, context);
  };
}

export function tfaSchemaRefusal(id: OperationId, body: unknown): Refused | undefined {
  const shape = operationOf(id).body?.shape;
  if (!id.startsWith('tfa.') || !shape || typeof body !== 'object' || body === null) return undefined;
  const fields = body as Readonly<Record<string, unknown>>;
  const { tfa_method: type, code, secret, label, backup_code: backupCode } = fields;
  const needsBoth = ['code', 'secret'].every((name) => shape[name]?.safeParse(undefined).success === false);
  if (needsBoth && (code === undefined || secret === undefined)) {
    const field = code === undefined ? 'code' : 'secret';
    return new Refused('missing_params', 'code and secret are needed', field);
  }
  if (typeof backupCode === 'string' && shape['backup_code']?.safeParse(backupCode).success === false)
    return invalidBackupCode('not three groups of four characters (§2.4)');
  if (typeof label === 'string' && shape['label']?.safeParse(label).success === false) {
    const message = `a label has at most ${LIMITS.methodLabelLength} characters`;
    const inPublic = { status: 400, code: 'label_too_long', message };
    return new Refused('bad_request', message, 'label', { inPublic });
  }
  const isKnown = (TFA_METHODS as readonly unknown[]).includes(type);
  if (isKnown && shape['tfa_method']?.safeParse(type).success === false)
    return invalidMethod(`${String(type)} is not supported here`);
  return undefined;
}

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
  const shared = { description: `${hardware.num_gpus}x ${hardware.gpu_name}`, ...span };
  // Clients of the service need all fields of a part, too; with a source, it would be shown as an instance.
  const part = (kind: 'gpu' | 'disk') => {
    return { type: kind, source: null, ...shared, amount: rounded(cost[kind]), items: [] };
  };
  return [
    {
      type: 'instance',
      source: `instance-${id}`,
      ...shared,
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
