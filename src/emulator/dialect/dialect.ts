/** What differs between the two dialects; they are in spec.ts and public.ts. */
import type { Operation } from '../../contract/define.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { RouteMatch } from '../../wire/match.ts';
import type { Answer } from '../http/answer.ts';
import type { Call } from '../service/call.ts';
import type { Refused } from '../service/refused.ts';
import type { State } from '../service/state.ts';

export type DialectName = 'spec' | 'public';

/** What a path leads to: an operation, perhaps under another name and in another form. */
export interface Target {
  readonly id: OperationId;
  readonly alias?: Alias;
}

/** An older or newer address of an operation, and how its request and answer differ. */
export interface Alias {
  readonly method: string;
  readonly path: string;
  readonly id: OperationId;
  /** The query of the alias as the body of the operation. */
  body?(query: Readonly<Record<string, string>>, state: State): Record<string, unknown>;
  answer?(body: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** On whose behalf a request is read. */
export interface Requester {
  readonly state: State;
  /** undefined without a valid key. */
  readonly userId: number | undefined;
}

export interface Dialect {
  readonly name: DialectName;
  /** Refuses a body or query where the operation takes none, and a missing key in the body. */
  readonly strict: boolean;
  match(method: string, path: string): RouteMatch<Target> | undefined;
  knows(operation: Operation): boolean;
  /** Brings what clients of this dialect send into the contract's form. */
  adapt(id: OperationId, operation: Operation, body: unknown, requester: Requester): unknown;
  /** The same for a query whose values have been read as the types that its schema wants. */
  adaptQuery(operation: Operation, query: Record<string, unknown>): Record<string, unknown>;
  success(target: Target, body: unknown, call: Call): Answer;
  refusal(operation: Operation | undefined, refused: Refused, call: Call): Answer;
}
