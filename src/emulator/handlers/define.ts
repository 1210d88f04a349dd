/** What a handler is: the behaviour of one operation, as a transition of the state. */
import type { Fields, OperationId, Output } from '../../contract/operations.ts';
import type { Fleets } from '../fleet/fleets.ts';
import type { InferenceLog } from '../worker-log/inference-log.ts';
import type { Random } from '../random.ts';
import type { Identity } from '../calls/identity.ts';
import type { State } from '../state/state.ts';

export interface HandlerContext extends Identity {
  readonly state: State;
  /** Unix time in ms, one reading for the whole request. */
  readonly nowMs: number;
  readonly random: Random;
  readonly inferenceLog: InferenceLog;
  readonly fleets: Fleets;
  /** Address that the client sees the emulator at, without a slash at its end. */
  readonly origin: string;
  /** base64 of the service's signature of a text. */
  readonly sign: (text: string) => string;
  /** Further headers of the answer, to be filled in; names in lower case. */
  readonly headers: Record<string, string>;
}

/**
 * Takes a validated input and answers the body of a success, or throws Refused. All checks come before the
 * first change of the state.
 */
export type Handler<Id extends OperationId> = (input: Fields<Id>, context: HandlerContext) => Output<Id>;

/** One for each operation of the table: one without a handler does not compile. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

/** The handlers of one resource: those operations whose id starts with its name. */
export type HandlersOf<Resource extends string> = {
  readonly [Id in Extract<OperationId, `${Resource}.${string}`>]: Handler<Id>;
};
