import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import { type ClientOptions, createPartialClient, type ClientOf } from './caller.ts';

export type { CallOptions, ClientObserver, ClientOptions } from './caller.ts';

/** A method for each operation. `npm run build` adds each with its text (.config/client-types.ts). */
export interface Client extends ClientOf<OperationId> {}

/**
 * A client of the service. It connects at the first call; close it with `await using` or `close()`.
 * @throws ClientOptionsError with all problems of the options
 */
export function createClient(options: ClientOptions): Client {
  return createPartialClient(OPERATIONS, options);
}
