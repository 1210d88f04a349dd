/**
 * The public service's way of speaking the interface (src/contract/README.md), so that its existing clients run
 * against the emulator unmodified: laxer about what it takes, and wordier in what it answers.
 */
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { OperationId } from '../../contract/operations.ts';
import { matchOperation } from '../../wire/match.ts';
import { jsonAnswer } from '../answers/answer.ts';
import type { Call } from '../calls/call.ts';
import { throttledAnswer } from '../answers/throttled.ts';
import { matchAlias } from './aliases.ts';
import { Refused } from '../answers/refused.ts';
import type { Dialect, Requester } from './dialect.ts';
import { shownTemplates, withTemplateId } from './public-templates.ts';
import { isRecord } from '../../contract/is-record.ts';
import { readTexts, tolerate } from './tolerate.ts';

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
  keyAnywhere: true,
  match(method, path) {
    const match = matchOperation(method, path);
    return match ? { value: { id: match.value }, params: match.params } : matchAlias(method, path);
  },
  knows: () => true,
  adapt(id, operation, body, caller) {
    if (!operation.body || !isRecord(body)) return operation.body ? body : undefined;
    const named = withIds(id, body, caller);
    return { ...DEFAULTS[id], ...tolerate(operation.body, named, operation.keyInBody) };
  },
  adaptQuery({ query: schema }, query) {
    if (!schema) return {};
    const known = Object.entries(query).filter(([name]) => Object.hasOwn(schema.shape, name));
    return readTexts(schema, Object.fromEntries(known)) as Record<string, unknown>;
  },
  success({ id, alias }, body, call) {
    if (id === 'endpointGroups.workers' && isRecord(body)) return jsonAnswer(200, body['workers']);
    // A sentence, as a bare JSON string.
    if (id === 'apiKeys.delete') return jsonAnswer(200, 'API key deleted');
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

/** What is named in place of its id. */
function withIds(id: OperationId, body: Record<string, unknown>, caller: Requester): Record<string, unknown> {
  if (id === 'templates.delete') return withTemplateId(body, caller);
  return id === 'endpointGroups.logs' ? withEndpointId(body, caller) : body;
}

/** @throws Refused not_found */
function withEndpointId(
  { endpoint: name, ...body }: Record<string, unknown>,
  { state, userId }: Requester,
): Record<string, unknown> {
  if (typeof name !== 'string' || (body['id'] ?? null) !== null) return body;
  for (const { id, userId: owner, parameters } of state.endpointGroups.values())
    if (owner === userId && parameters.endpoint_name === name) return { ...body, id };
  throw new Refused('not_found', `no endpoint ${name}`, {
    reason: `endpoint: this account has no endpoint ${name}`,
  });
}

/** Errors of instance creation say which offer was asked for. */
function askOf({ target, params }: Call): { ask_id?: number } {
  const asks = target?.id === 'instances.create' || target?.id === 'instances.createByPost';
  return asks ? { ask_id: Number(params['offer_id']) } : {};
}

/** Maintenance windows carry `end_time` there. */
function withEndTimes(id: OperationId, body: unknown): unknown {
  if (id !== 'machines.maintenances' || !Array.isArray(body)) return body;
  return (body as MaintenanceWindow[]).map((window) =>
    Object.assign({}, window, { end_time: window.start_time + window.duration_hours * 3600 }),
  );
}
