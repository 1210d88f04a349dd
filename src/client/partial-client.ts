/**
 * A client of some operations, for what needs few of them: the schemas of the others are not even loaded. The first
 * heartbeat leaves that soon because of it.
 */
import type { Operation } from '../contract/define.ts';
import type { Input, OperationId, Output } from '../contract/operations.ts';
import { createCaller, type CallOptions, type ClientOptions } from './caller.ts';
import { createTransport } from './transport/transport.ts';

type Resource<Ids extends OperationId> = Ids extends `${infer Name}.${string}` ? Name : never;
type MethodOf<Ids extends OperationId, R extends string> =
  Extract<Ids, `${R}.${string}`> extends `${R}.${infer Name}` ? Name : never;
type Call<Id extends OperationId> =
  {} extends Input<Id>
    ? (input?: Input<Id>, options?: CallOptions) => Promise<Output<Id>>
    : (input: Input<Id>, options?: CallOptions) => Promise<Output<Id>>;

/** A method for each of the operations: `client.deployments.heartbeat({ id: 42 })`. */
export type ClientOf<Ids extends OperationId> = {
  readonly [R in Resource<Ids>]: {
    readonly [M in MethodOf<Ids, R>]: Call<Extract<Ids, `${R}.${M}`>>;
  };
} & {
  /** Any of the operations by its id, for scripts; the input is checked all the same. */
  call(id: Ids, input?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<unknown>;
  /** The same service and connections with another key, such as a login's session_key. Disposing of one ends both. */
  withKey(apiKey: string): ClientOf<Ids>;
} & AsyncDisposable;

/** `operations` is a part of the contract's table. */
export function createPartialClient<Ids extends OperationId>(
  operations: Readonly<Record<Ids, Operation>>,
  options: ClientOptions,
): ClientOf<Ids> {
  const transport = options.transport ?? createTransport();
  const caller = createCaller({ ...options, transport });

  function call(
    id: Ids,
    input?: Readonly<Record<string, unknown>>,
    callOptions?: CallOptions,
  ): Promise<unknown> {
    return caller.call(id, operations[id], input, callOptions);
  }

  const resources: Record<string, Record<string, unknown>> = {};
  for (const id of Object.keys(operations) as Ids[]) {
    const [resource = '', method = ''] = id.split('.');
    resources[resource] ??= {};
    resources[resource][method] = (input?: Readonly<Record<string, unknown>>, callOptions?: CallOptions) =>
      call(id, input, callOptions);
  }
  return {
    ...resources,
    call,
    withKey: (apiKey: string) => createPartialClient(operations, { ...options, apiKey, transport }),
    [Symbol.asyncDispose]: () => caller[Symbol.asyncDispose](),
  } as unknown as ClientOf<Ids>;
}
