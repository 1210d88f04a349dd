/**
 * The public service's way of speaking the interface (src/contract/README.md), so that its existing clients run
 * against the emulator unmodified: laxer about what it takes, and wordier in what it answers.
 */
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { OperationId } from '../../contract/operations.ts';
import { createMatcher, matchOperation } from '../../wire/match.ts';
import { jsonAnswer } from '../http/answer.ts';
import type { Call } from '../service/call.ts';
import { throttledAnswer } from '../service/throttling.ts';
import type { Alias, Dialect } from './dialect.ts';
import { shownTemplates, withTemplateId } from './public-templates.ts';
import { isRecord } from '../../contract/is-record.ts';
import { readTexts, tolerate } from './tolerate.ts';

const ALIASES: readonly Alias[] = [
  {
    method: 'GET',
    path: '/api/v0/machines/maintenances',
    id: 'machines.maintenances',
    body: ({ machine_ids: listed }, state) => ({
      // `?owner=me` alone asks for all machines of the account.
      machine_ids: listed === undefined ? [...state.machines.keys()] : parseList(listed),
    }),
  },
  {
    method: 'GET',
    path: '/api/v1/instances/',
    id: 'instances.list',
    answer: (body) => ({ ...body, next_token: null }),
  },
  {
    method: 'POST',
    path: '/get_autogroup_logs/',
    id: 'workergroups.logs',
    answer: ({ logs }) => ({ info0: logs, info1: '', trace: '', debug: '' }),
  },
];

const matchAlias = createMatcher(
  ALIASES.map((alias) => ({ method: alias.method, path: alias.path, value: { id: alias.id, alias } })),
);

/** Fields that public clients may leave out. */
const DEFAULTS: Readonly<Partial<Record<OperationId, Readonly<Record<string, unknown>>>>> = {
  'workergroups.logs': { tail: LIMITS.logTailMax },
  'templates.create': { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
};

/** Words that existing clients compare. */
const MESSAGES: Readonly<Record<string, string>> = { invalid_key: 'Invalid user key' };

export const publicDialect: Dialect = {
  name: 'public',
  strict: false,
  match(method, path) {
    const match = matchOperation(method, path);
    return match ? { value: { id: match.value }, params: match.params } : matchAlias(method, path);
  },
  knows: () => true,
  adapt(id, operation, body, caller) {
    if (!operation.body || !isRecord(body)) return operation.body ? body : undefined;
    const named = id === 'templates.delete' ? withTemplateId(body, caller) : body;
    return { ...DEFAULTS[id], ...tolerate(operation.body, named, operation.keyInBody) };
  },
  adaptQuery({ query: schema }, query) {
    if (!schema) return {};
    const known = Object.entries(query).filter(([name]) => Object.hasOwn(schema.shape, name));
    return readTexts(schema, Object.fromEntries(known)) as Record<string, unknown>;
  },
  success({ id, alias }, body, call) {
    if (!isRecord(body)) return jsonAnswer(200, withEndTimes(id, body));
    const shown = id === 'templates.search' ? shownTemplates(body, call.query) : body;
    return jsonAnswer(200, { success: true, ...(alias?.answer ? alias.answer(shown) : shown) });
  },
  refusal(operation, refused, call) {
    const { code, fields, reason, inPublic, throttle } = refused;
    if (throttle) return throttledAnswer(throttle.shape, throttle.thresholdSeconds, true);
    const status = inPublic?.status ?? refused.status;
    const message = inPublic?.message ?? MESSAGES[code] ?? refused.message;
    // The serverless address reports its own errors as a bare JSON string with status 200.
    if (operation?.base === 'serverless' && (status === 400 || status === 404)) {
      return jsonAnswer(200, message, reason);
    }
    const body = { success: false, error: code, msg: message, ...fields, ...askOf(call) };
    return jsonAnswer(status, body, reason);
  },
};

/** Errors of instance creation say which offer was asked for. */
function askOf({ target, params }: Call): { ask_id?: number } {
  const asks = target?.id === 'instances.create' || target?.id === 'instances.createByPost';
  return asks ? { ask_id: Number(params['offer_id']) } : {};
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Maintenance windows carry `end_time` there. */
function withEndTimes(id: OperationId, body: unknown): unknown {
  if (id !== 'machines.maintenances' || !Array.isArray(body)) return body;
  return (body as MaintenanceWindow[]).map((window) =>
    Object.assign({}, window, { end_time: window.start_time + window.duration_hours * 3600 }),
  );
}
