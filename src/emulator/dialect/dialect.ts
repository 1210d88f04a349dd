import type { Operation } from '../../contract/define.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { matchOperation } from '../../wire/match.ts';
import { jsonAnswer, type Answer } from '../answers/answer.ts';
import type { Refused } from '../answers/refused.ts';
import type { Addresses, Call, Target } from '../calls/call.ts';
import type { State } from '../state/state.ts';

/** `spec`: the interface document, strictly. `public`: as the public service behaves. */
export type DialectName = 'spec' | 'public';

export interface Requester {
  readonly state: State;
  readonly userId: number | undefined;
}

export interface Dialect extends Addresses {
  readonly name: DialectName;
  /** Makes the contract's form of a body in this dialect. */
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
