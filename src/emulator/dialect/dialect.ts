/** What differs between the two dialects; they are in spec.ts and public.ts. */
import type { Operation } from '../../contract/define.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Answer } from '../answers/answer.ts';
import type { Addresses, Call, Target } from '../calls/call.ts';
import type { Refused } from '../answers/refused.ts';
import type { State } from '../state/state.ts';

export type DialectName = 'spec' | 'public';

/** On whose behalf a request is read. */
export interface Requester {
  readonly state: State;
  /** undefined without a valid key. */
  readonly userId: number | undefined;
}

export interface Dialect extends Addresses {
  readonly name: DialectName;
  /** Refuses a body or query where the operation takes none, and a missing key in the body. */
  readonly strict: boolean;
  /** Brings what clients of this dialect send into the contract's form. */
  adapt(id: OperationId, operation: Operation, body: unknown, requester: Requester): unknown;
  /** The same for a query whose values have been read as the types that its schema wants. */
  adaptQuery(operation: Operation, query: Record<string, unknown>): Record<string, unknown>;
  success(target: Target, body: unknown, call: Call): Answer;
  refusal(operation: Operation | undefined, refused: Refused, call: Call): Answer;
}
