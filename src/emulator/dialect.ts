/** The interface in the words of the document (`spec`) and in those of the public service (`public`). */
import * as z from 'zod';
import type { Operation } from '../contract/define.ts';
import type { ErrorCode } from '../contract/errors.ts';
import { isRecord, parseJsonOr } from '../contract/is-record.ts';
import { LIMITS } from '../contract/limits.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../contract/operations.ts';
import type { MaintenanceWindow } from '../contract/operations/machines.ts';
import { envMapOf, parseEnvFlags } from '../contract/text/env-flags.ts';
import { coerceText, innerOf } from '../wire/coerce.ts';
import { createMatcher, matchOperation } from '../wire/match.ts';
import { jsonAnswer, notFound, readFlags, type Answer, type Refused } from './answer.ts';
import type { Addresses, Alias, Call, Target } from './call.ts';
import { withColumns } from './handlers/define.ts';
import { findOwnTemplate } from './handlers/templates.ts';
import { endpointNamed, type State } from './state/state.ts';

/** `spec`: the interface document, strictly. `public`: as the public service behaves. */
export type DialectName = 'spec' | 'public';

interface Requester {
  readonly state: State;
  readonly userId: number | undefined;
}

export interface Dialect extends Addresses {
  readonly name: DialectName;
  adapt(id: OperationId, operation: Operation, body: unknown, requester: Requester): unknown;
  adaptQuery(operation: Operation, query: Record<string, unknown>): Record<string, unknown>;
  success(target: Target, body: unknown, call: Call): Answer;
  refusal(operation: Operation | undefined, refused: Refused, call: Call): Answer;
}

export const specDialect: Dialect = {
  name: 'spec',
  strict: true,
  match(method, path) {
    const match = matchOperation(method, path);
    if (!match || operationOf(match.value).origin !== 'interface') return undefined;
    return { value: { id: match.value }, params: match.params };
  },
  adapt: (_id, _operation, body) => body,
  adaptQuery: (_operation, query) => query,
  success: (_target, body) => jsonAnswer(200, body),
  refusal(operation, refused) {
    const { code, message, status, fields, reason } = refused;
    // §7: errors of the serverless address are {error_msg}.
    const body =
      operation?.base === 'serverless'
        ? { error_msg: message, ...fields }
        : { error: code, msg: message, ...fields };
    return jsonAnswer(status, body, reason);
  },
};

const DEFAULTS: Readonly<Partial<Record<OperationId, Readonly<Record<string, unknown>>>>> = {
  'workergroups.logs': { tail: LIMITS.logTailMax },
  'templates.create': { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
};

export const publicDialect: Dialect = {
  name: 'public',
  strict: false,
  match(method, path) {
    const match = matchOperation(method, path);
    return match ? { value: { id: match.value }, params: match.params } : matchAlias(method, path);
  },
  adapt(id, operation, body, caller) {
    if (!operation.body || !isRecord(body)) return operation.body ? body : undefined;
    const named = withEnvMap(id, withIds(id, body, caller));
    return { ...DEFAULTS[id], ...tolerate(operation.body, named, operation.keyInBody) };
  },
  adaptQuery({ query: schema }, query) {
    if (!schema) return {};
    const known = Object.entries(query).filter(([name]) => Object.hasOwn(schema.shape, name));
    return readTexts(schema, Object.fromEntries(known)) as Record<string, unknown>;
  },
  success({ id }, body, call) {
    if (id === 'endpointGroups.workers' && isRecord(body)) return jsonAnswer(200, body['workers']);
    // The service answers a bare JSON string.
    if (id === 'apiKeys.delete') return jsonAnswer(200, 'Successfully Deleted API Key');
    if (id === 'machines.maintenances' && Array.isArray(body)) return jsonAnswer(200, withEndTimes(body));
    if (!isRecord(body)) return jsonAnswer(200, body);
    if (id !== 'templates.search') return jsonAnswer(200, { success: true, ...body });
    const shown = shownTemplates(body, call.query);
    if (shown.templates_found === 0) return jsonAnswer(200, { success: false, msg: 'No templates found' });
    return jsonAnswer(200, { success: true, ...shown });
  },
  refusal(operation, refused, call) {
    const { fields, reason } = refused;
    const { status, code, message } = publicRefusal(refused, call);
    // The serverless address reports its errors with status 200; those of logs are a bare JSON string.
    if (operation?.base === 'serverless' && (status === 400 || status === 404))
      return jsonAnswer(200, call.target?.id.endsWith('.logs') ? message : { error_msg: message }, reason);
    const asks = call.target?.id === 'instances.create' || call.target?.id === 'instances.createByPost';
    const ask = asks ? { ask_id: Number(call.params['offer_id']) } : {};
    return jsonAnswer(status, { success: false, error: code, msg: message, ...fields, ...ask }, reason);
  },
};

function withEnvMap(id: OperationId, body: Record<string, unknown>): Record<string, unknown> {
  const { env } = body;
  if (!id.startsWith('instances.create') || typeof env !== 'string' || env.startsWith('{')) return body;
  return { ...body, env: readFlags('env', () => envMapOf(parseEnvFlags(env))) };
}

/** Public clients name templates by hash and endpoints by name. @throws Refused not_found */
function withIds(operation: OperationId, body: Record<string, unknown>, { state, userId = -1 }: Requester) {
  if (operation === 'templates.delete') {
    const { hash_id: hash, ...rest } = body;
    if (typeof hash !== 'string' || (rest['template_id'] ?? null) !== null) return body;
    const template = findOwnTemplate(state, hash, userId);
    if (template) return { ...rest, template_id: template.id };
    throw notFound(`template with hash_id ${hash}`, 'hash_id');
  }
  if (operation !== 'endpointGroups.logs') return body;
  const { endpoint: name, ...rest } = body;
  if (typeof name !== 'string' || (rest['id'] ?? null) !== null) return rest;
  const endpoint = endpointNamed(state, name, userId);
  if (endpoint) return { ...rest, id: endpoint.id };
  throw notFound(`endpoint ${name}`, 'endpoint');
}

function withEndTimes(windows: readonly MaintenanceWindow[]): object[] {
  return windows.map((window) => {
    const end_time = window.start_time + window.duration_hours * 3600;
    return { ...window, end_time };
  });
}

/** `select_cols`: a JSON list of columns; `*` or nothing: all. */
function shownTemplates(
  { templates }: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, string>>,
) {
  const rows = Array.isArray(templates) ? templates.filter(isRecord) : [];
  const columns = query['select_cols']?.match(/[\w*]+/g) ?? ['*'];
  return { templates_found: rows.length, templates: rows.map((row) => withColumns(row, columns)) };
}

const ALIASES: readonly Alias[] = [
  {
    method: 'GET',
    path: '/api/v0/machines/maintenances',
    id: 'machines.maintenances',
    publicSpacingMs: 2000,
    body: ({ machine_ids: listed }, state) => ({
      // `?owner=me` alone asks for all machines of the account.
      machine_ids: listed === undefined ? [...state.machines.keys()] : parseJsonOr(listed),
    }),
  },
  ...older('/api/v0/autojobs/', '/api/v0/workergroups/'),
  { method: 'POST', path: '/get_autogroup_logs/', id: 'workergroups.logs' },
];

const matchAlias = createMatcher(
  ALIASES.map((alias) => ({ method: alias.method, path: alias.path, value: { id: alias.id, alias } })),
);

function older(was: string, is: string): Alias[] {
  return OPERATION_IDS.flatMap((id) => {
    const { method, path } = operationOf(id);
    if (!path.startsWith(is)) return [];
    const spacing = id === 'workergroups.create' ? { publicSpacingMs: 4000 } : {};
    return [{ method, path: was + path.slice(is.length), id, ...spacing }];
  });
}

/** Null is unset, unknown fields are dropped except `extra`, numbers and booleans may be text. */
function tolerate(
  schema: z.ZodObject,
  fields: Readonly<Record<string, unknown>>,
  extra?: string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const field = Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined;
      if (!field) return name === extra && value !== null ? [[name, value]] : [];
      if (value === null && !field.safeParse(null).success) return [];
      const inner = innerOf(field);
      const known = inner instanceof z.ZodObject && isRecord(value) ? tolerate(inner, value) : value;
      return [[name, readTexts(field, known)]];
    }),
  );
}

/** Converts texts to the types of the schema at any depth. What does not fit stays, to be refused. */
function readTexts(schema: z.ZodType, value: unknown): unknown {
  const inner = innerOf(schema);
  if (typeof value === 'string') return schema.safeParse(value).success ? value : coerceText(schema, value);
  if (inner instanceof z.ZodUnion) {
    const readings = (inner.options as z.ZodType[]).map((option) => readTexts(option, value));
    return readings.find((reading) => schema.safeParse(reading).success) ?? value;
  }
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => readTexts(inner.element as z.ZodType, item));
  if (inner instanceof z.ZodObject && isRecord(value)) {
    const entries = Object.entries(value).map(([name, item]) => {
      const field = Object.hasOwn(inner.shape, name) ? (inner.shape[name] as z.ZodType) : undefined;
      return [name, field ? readTexts(field, item) : item];
    });
    return Object.fromEntries(entries);
  }
  return value;
}

interface Wording {
  readonly status: number;
  readonly code?: string;
  readonly says: (subject: string, userId: number | string) => string;
  /** Limits the words to one rule; absent: all rules. */
  readonly field?: string;
}
type Wordings = Readonly<Partial<Record<ErrorCode, Wording>>>;

const DEPLOYMENT: Wordings = {
  not_found: { status: 404, says: (id) => `Deployment ${id} not found.` },
  bad_request: { status: 400, says: () => 'Invalid deployment ID' },
};
const ENDPOINT: Wordings = { not_found: { status: 404, says: (id) => `Endpoint job ${id} not found` } };
const INSTANCE: Wordings = {
  not_found: { status: 404, code: 'no_such_instance', says: (id) => `Instance ${id} not found.` },
};

const WORDINGS: Readonly<Partial<Record<OperationId, Wordings>>> = {
  'deployments.get': DEPLOYMENT,
  'deployments.versions': DEPLOYMENT,
  'deployments.delete': DEPLOYMENT,
  'deployments.stop': DEPLOYMENT,
  'deployments.start': DEPLOYMENT,
  'deployments.heartbeat': DEPLOYMENT,
  'endpointGroups.get': ENDPOINT,
  'endpointGroups.delete': ENDPOINT,
  'endpointGroups.update': {
    not_found: { status: 400, says: (id, user) => `Endpoint ${id} for user ${user} not found.` },
  },
  'workergroups.update': {
    no_such_workergroup: { status: 400, says: (id) => `Workergroup ${id} not found.` },
    not_found: { status: 400, says: (id) => `Endpoint of workergroup ${id} not found.` },
  },
  'instances.update': INSTANCE,
  'instances.destroy': INSTANCE,
  'charges.list': {
    bad_request: {
      status: 400,
      field: 'select_filters',
      says: () => "Must provide both 'day' gte and lte filters for instance charges",
    },
  },
  'teams.createRole': { duplicate_role: { status: 403, says: () => 'Role already exists' } },
};

const SHARED: Wordings = { invalid_key: { status: 401, says: () => 'Invalid user key' } };

/** `inPublic` of the refusal wins over the table. */
function publicRefusal({ code, status, message, reason, inPublic }: Refused, call: Call) {
  if (inPublic) return { code, ...inPublic };
  const id = call.target?.id;
  const wording = (id && WORDINGS[id]?.[code]) ?? SHARED[code];
  if (wording === undefined || (wording.field !== undefined && !reason.startsWith(wording.field)))
    return { status, code, message };
  const subject = call.params['id'] ?? String(call.subject ?? '');
  return {
    status: wording.status,
    code: wording.code ?? code,
    message: wording.says(subject, call.key?.userId ?? ''),
  };
}
