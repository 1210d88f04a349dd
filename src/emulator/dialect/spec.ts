/** Exactly what the interface states, and nothing of the public dialect. */
import { matchOperation } from '../../wire/match.ts';
import { jsonAnswer } from '../answers/answer.ts';
import type { Dialect } from './dialect.ts';

export const specDialect: Dialect = {
  name: 'spec',
  strict: true,
  keyAnywhere: false,
  match(method, path) {
    const match = matchOperation(method, path);
    return match && { value: { id: match.value }, params: match.params };
  },
  knows: (operation) => operation.origin === 'interface',
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
