import * as z from 'zod';
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../../contract/operations.ts';
import { ENDPOINT_GROUP_PARAMETERS } from '../../contract/operations/serverless/endpoint-groups.ts';
import { rulesOf } from '../../contract/rules.ts';
import { coerceFields } from '../../wire/coerce.ts';
import { problemsOf } from '../../wire/request.ts';
import { badRequest, Refused } from '../answers/refused.ts';
import { findCaller, type Call, type Target } from '../calls/call.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { refuseBadGroup } from '../handlers/endpoint-groups.ts';
import { tfaSchemaRefusal } from '../handlers/tfa.ts';
import type { State } from '../state/state.ts';

type Validator = (call: Call, target: Target, state: State, nowMs: number) => Record<string, unknown>;

/** The body schema of an operation with `keyInBody` also takes the key. */
export function createValidator(dialect: Dialect): Validator {
  const bodySchemas = new Map<OperationId, z.ZodObject>();
  for (const id of OPERATION_IDS) {
    const { body, keyInBody } = operationOf(id);
    if (!body) continue;
    const key = dialect.strict ? z.string() : z.string().optional();
    bodySchemas.set(id, keyInBody ? body.extend({ [keyInBody]: key }) : body);
  }

  return function validate(call, { id, alias }, state, nowMs) {
    const operation = operationOf(id);
    const input: Record<string, unknown> = {};
    if (operation.params) {
      Object.assign(input, parse(operation.params, coerceFields(operation.params, call.params), 'path'));
    }
    if (alias?.body) {
      Object.assign(input, parse(bodySchemas.get(id), alias.body(call.query, state), 'query'));
    } else {
      Object.assign(input, readQuery(operation, call, dialect), readBody(operation, id, call, state));
    }
    for (const { field, says, error, isBroken } of rulesOf(operation))
      if (isBroken(input)) throw new Refused(error, `${field}: ${says}`, field);
    checkKeyInBody(operation, input, call, { state, nowMs });
    return input;
  };

  function readBody(
    operation: Operation,
    id: OperationId,
    call: Call,
    state: State,
  ): Record<string, unknown> {
    const { body } = call;
    const schema = bodySchemas.get(id);
    if (!schema) {
      // Many clients send {} where no body is needed.
      const isEmpty = body.kind === 'json' && isRecord(body.value) && Object.keys(body.value).length === 0;
      if (body.kind === 'none' || isEmpty || !dialect.strict) return {};
      throw badRequest('body', 'this operation takes no body');
    }
    if (body.kind === 'malformed') throw badRequest('body', 'malformed JSON: not JSON');
    const value = body.kind === 'json' ? body.value : {};
    const adapted = dialect.adapt(id, operation, value, { state, userId: call.key?.userId });
    refuseBadParameters(operation, adapted);
    return parse(schema, adapted, 'body', () => tfaSchemaRefusal(id, adapted));
  }
}

/** Endpoint group parameters are refused in the words of the rules. */
function refuseBadParameters({ body: schema }: Operation, body: unknown): void {
  if (!schema || !ENDPOINT_GROUP_PARAMETERS.every((name) => name in schema.shape) || !isRecord(body)) return;
  const given = ENDPOINT_GROUP_PARAMETERS.filter((name) => body[name] !== undefined);
  refuseBadGroup(Object.fromEntries(given.map((name) => [name, body[name]])));
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
  { state, nowMs }: { readonly state: State; readonly nowMs: number },
): void {
  if (keyInBody === undefined || input[keyInBody] === undefined) return;
  const value = input[keyInBody];
  const key = typeof value === 'string' ? findCaller(state, value, nowMs, base) : undefined;
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
