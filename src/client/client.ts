/** The typed client of every operation of the table. */
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import type { ClientOptions } from './caller.ts';
import { createPartialClient, type ClientOf } from './caller.ts';

export type { CallOptions, ClientObserver, ClientOptions } from './caller.ts';

export type Client = ClientOf<OperationId>;

export function createClient(options: ClientOptions): Client {
  return createPartialClient(OPERATIONS, options);
}
