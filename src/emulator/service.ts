/** The emulated service without its sockets. */
import { createSign, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { messageOf } from '../contract/pilotlight-error.ts';
import { rulesOf, type Operation } from '../contract/define.ts';
import { isRecord } from '../contract/is-record.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../contract/operations.ts';
import { ENDPOINT_GROUP_PARAMETERS } from '../contract/operations/serverless/endpoint-groups.ts';
import { coerceFields } from '../wire/coerce.ts';
import { matchOperation } from '../wire/match.ts';
import { problemsOf } from '../wire/request.ts';
import { badRequest, jsonAnswer, Refused, type Answer } from './answer.ts';
import {
  authorize,
  findCaller,
  identify,
  readCall,
  requireTfaKey,
  type Call,
  type IncomingRequest,
  type Target,
} from './call.ts';
import type { Dialect } from './dialect.ts';
import { Fleets } from './fleet/fleets.ts';
import { accountHandlers, spendHandlers, tfaHandlers, tfaSchemaRefusal } from './handlers/accounts.ts';
import type { HandlerContext, Handlers } from './handlers/define.ts';
import { deploymentHandlers } from './handlers/deployments.ts';
import { endpointGroupHandlers, expireEndpoints, refuseBadGroup } from './handlers/endpoint-groups.ts';
import { instanceHandlers } from './handlers/instances.ts';
import { templateHandlers } from './handlers/templates.ts';
import { workerGroupHandlers } from './handlers/workergroups.ts';
import { createRandom, type Random } from './random.ts';
import { expireDeployment } from './state/serverless.ts';
import type { State } from './state/state.ts';
import { expireTfa } from './tfa/account.ts';

/** Reset and restore swap `state`. */
export interface World {
  state: State;
  readonly dialect: Dialect;
  readonly now: () => number;
  random: Random;
  readonly signer: ReturnType<typeof createSigner>;
  readonly fleets: Fleets;
}

export function createWorld(state: State, dialect: Dialect, now: () => number): World {
  const random = createRandom(state.settings.randomSeed);
  return { state, dialect, now, random, signer: createSigner(), fleets: new Fleets() };
}

/** Settles everything due before the clock jumps, perhaps back. */
export function catchUp({ state, fleets }: World, nowMs: number): void {
  for (const deployment of state.deployments.values()) expireDeployment(deployment, nowMs);
  expireEndpoints(state, nowMs);
  fleets.catchUp(state, nowMs);
  expireTfa(state, nowMs);
}

const MODULUS_BITS = 2048;

/** Made on first use: it takes a tenth of a second. */
function createSigner() {
  let pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject } | undefined;
  const keys = () => (pair ??= generateKeyPairSync('rsa', { modulusLength: MODULUS_BITS }));
  return {
    sign: (text: string) => createSign('sha256').update(text).sign(keys().privateKey, 'base64'),
    verify: (text: string, signature: string) =>
      createVerify('sha256').update(text).verify(keys().publicKey, signature, 'base64'),
    publicKey: () => keys().publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

const HANDLERS: Handlers = {
  ...accountHandlers,
  ...deploymentHandlers,
  ...endpointGroupHandlers,
  ...instanceHandlers,
  ...spendHandlers,
  ...templateHandlers,
  ...tfaHandlers,
  ...workerGroupHandlers,
};

type AnyHandler = (input: Record<string, unknown>, context: HandlerContext) => unknown;

export type Service = Readonly<ReturnType<typeof createService>>;

export function createService(world: World) {
  const { dialect } = world;

  /** Never throws. */
  function perform(call: Call): Answer {
    const { target, operation } = call;
    if (!target || !operation) return unknownOperation(call, dialect);
    const headers: Record<string, string> = {};
    try {
      const answer = dialect.success(target, run(call, target, headers), call);
      return { ...answer, headers: { ...answer.headers, ...headers } };
    } catch (error) {
      const text = `a bug in the emulator: ${messageOf(error)}`;
      const bug = () => new Refused('internal_error', text, 'emulator');
      return dialect.refusal(operation, error instanceof Refused ? error : bug(), call);
    }
  }

  function run(call: Call, target: Target, headers: Record<string, string>): unknown {
    const { state, random, signer, fleets } = world;
    const operation = operationOf(target.id);
    const nowMs = world.now();
    const { bearer, origin, body: sent } = call;
    const secret = sent.kind === 'json' ? (sent.value as { secret?: unknown } | null)?.secret : undefined;
    const caller = identify(state, operation, { bearer, secret }, nowMs);
    authorize(operation, caller.key);
    requireTfaKey(state, operation, caller);
    const input = validate(call, target, world);
    expireEndpoints(state, nowMs);
    const movesWorkers = moves(target.id);
    if (movesWorkers) fleets.catchUp(state, nowMs);
    const handler = HANDLERS[target.id] as AnyHandler;
    const { sign } = signer;
    const body = handler(input, { state, nowMs, random, fleets, origin, sign, headers, ...caller });
    if (movesWorkers && operation.method !== 'GET') fleets.catchUp(state, nowMs);
    const checked = operation.response.safeParse(body);
    if (checked.success) return body;
    const [first] = problemsOf(checked.error, body);
    throw new Error(`the answer of ${target.id} breaks the contract: ${first?.field}: ${first?.message}`);
  }

  return { read: (request: IncomingRequest) => readCall(request, dialect, world.state), perform };
}

/** Heartbeats skip the engines: there are thousands a second. */
function moves(id: OperationId): boolean {
  return !/^(?:apiKeys|machines|teams|templates|tfa|users\.current|deployments\.heartbeat)\b/.test(id);
}

/** Never a 5xx: existing clients repeat those for 15 seconds. */
function unknownOperation({ method, path }: Call, dialect: Dialect): Answer {
  const known = matchOperation(method, path);
  const methods = matchOperation.methodsOf(path);
  let message = `the emulator knows no operation ${method} ${path}`;
  if (known)
    message = `${known.value} belongs to the public dialect: start the emulator with --dialect public`;
  else if (methods.length > 0) message += `; at this path it knows ${methods.join(', ')}`;
  const body = { error: 'unknown_operation', msg: message };
  return jsonAnswer(404, dialect.strict ? body : { success: false, ...body }, message);
}

/** The body schema of an operation with `keyInBody` also takes the key. */
const BODIES = new Map(
  OPERATION_IDS.map((id) => {
    const { body, keyInBody } = operationOf(id);
    return [id, keyInBody ? body?.extend({ [keyInBody]: z.string().optional() }) : body] as const;
  }),
);

function validate(call: Call, { id, alias }: Target, world: World): Record<string, unknown> {
  const operation = operationOf(id);
  const { params } = operation;
  const input: Record<string, unknown> = {};
  if (params) Object.assign(input, parse(params, coerceFields(params, call.params), 'path'));
  if (alias?.body) Object.assign(input, parse(BODIES.get(id), alias.body(call.query, world.state), 'query'));
  else Object.assign(input, readQuery(operation, call, world.dialect), readBody(id, call, world));
  for (const { field, says, error, isBroken } of rulesOf(operation))
    if (isBroken(input)) throw new Refused(error, `${field}: ${says}`, field);
  checkKeyInBody(operation, input, call, world);
  return input;
}

function readBody(id: OperationId, { body, key }: Call, { dialect, state }: World): Record<string, unknown> {
  const schema = BODIES.get(id);
  if (!schema) {
    // Many clients send {} where no body is needed.
    const isEmpty = body.kind === 'json' && isRecord(body.value) && Object.keys(body.value).length === 0;
    if (body.kind === 'none' || isEmpty || !dialect.strict) return {};
    throw badRequest('body', 'this operation takes no body');
  }
  if (body.kind === 'malformed') throw badRequest('body', 'malformed JSON: not JSON');
  const operation = operationOf(id);
  const value = body.kind === 'json' ? body.value : {};
  const adapted = dialect.adapt(id, operation, value, { state, userId: key?.userId });
  // Endpoint group parameters are refused in the words of the rules.
  if (ENDPOINT_GROUP_PARAMETERS.every((name) => name in schema.shape) && isRecord(adapted))
    refuseBadGroup(Object.fromEntries(ENDPOINT_GROUP_PARAMETERS.map((name) => [name, adapted[name]])));
  return parse(schema, adapted, 'body', () => tfaSchemaRefusal(id, adapted));
}

function readQuery(operation: Operation, call: Call, dialect: Dialect): Record<string, unknown> {
  if (operation.query) {
    const read = dialect.adaptQuery(operation, coerceFields(operation.query, call.query));
    return parse(operation.query, read, 'query');
  }
  const [unknown] = Object.keys(call.query);
  if (unknown === undefined || !dialect.strict) return {};
  throw badRequest(unknown, 'this operation takes no query parameters');
}

function checkKeyInBody(
  { keyInBody, base }: Operation,
  input: Record<string, unknown>,
  call: Call,
  { dialect, state, now }: World,
): void {
  if (keyInBody === undefined) return;
  const value = input[keyInBody];
  if (value === undefined && !dialect.strict) return;
  if (value === undefined) throw badRequest(keyInBody, 'is missing');
  const key = typeof value === 'string' ? findCaller(state, value, now(), base) : undefined;
  delete input[keyInBody];
  if (key && key.userId === call.key?.userId) return;
  throw new Refused('invalid_key', 'not a valid key of the user that the Bearer key belongs to', keyInBody);
}

function parse(
  schema: z.ZodObject | undefined,
  value: unknown,
  part: string,
  special: () => Refused | undefined = () => undefined,
): Record<string, unknown> {
  const parsed = schema?.safeParse(value);
  if (!parsed) return {};
  if (parsed.success) return parsed.data;
  const [first] = problemsOf(parsed.error, value);
  throw special() ?? badRequest(first?.field || part, first?.message ?? 'not allowed');
}
