import type { z } from 'zod';
import type { Operation } from './define.ts';
import { apiKeyOperations, teamOperations, userOperations } from './operations/users.ts';
import { deployOperations } from './operations/serverless/deploy.ts';
import { endpointGroupOperations } from './operations/serverless/endpoint-groups.ts';
import { instanceOperations } from './operations/instances/instances.ts';
import { machineOperations } from './operations/machines.ts';
import { serverlessOperations } from './operations/serverless/serverless.ts';
import { spendOperations } from './operations/spend.ts';
import { templateOperations } from './operations/templates.ts';
import { tfaOperations } from './operations/tfa/tfa.ts';
import { workerGroupOperations } from './operations/serverless/worker-groups.ts';
import { endpointWorkerOperations, groupWorkerOperations } from './operations/serverless/workers.ts';

/** Every operation by its id: method, path, schemas of request and answer, errors, and an example. */
export const OPERATIONS = {
  ...machineOperations,
  ...templateOperations,
  ...instanceOperations,
  ...userOperations,
  ...spendOperations,
  ...tfaOperations,
  ...teamOperations,
  ...serverlessOperations,
  ...deployOperations,
  ...workerGroupOperations,
  ...groupWorkerOperations,
  ...endpointGroupOperations,
  ...endpointWorkerOperations,
  ...apiKeyOperations,
} as const;

type Operations = typeof OPERATIONS;
/** The name of an operation, such as `deployments.heartbeat`. */
export type OperationId = keyof Operations;
export const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];

/** `deployments.heartbeat` → `deployments`, `heartbeat` */
export function wordsOfId(id: OperationId): readonly [resource: string, method: string] {
  return id.split('.') as [string, string];
}

export function operationOf(id: OperationId): Operation {
  return OPERATIONS[id];
}

type Part<Op, Key extends 'params' | 'query' | 'body'> = Op extends { readonly [K in Key]: infer Schema }
  ? Schema extends z.ZodType
    ? z.input<Schema>
    : unknown
  : unknown;

/** The input of an operation: path parameters, query and body fields in one flat object. */
export type Input<Id extends OperationId> = Inputs[Id];

/**
 * The input of each operation. `npm run build` adds each field with its text (.config/client-types.ts).
 * @public
 */
export interface Inputs extends DerivedInputs {}
/** @public */
export type DerivedInputs = { readonly [Id in OperationId]: OrEmpty<Fields<Id> & Extra<Operations[Id]>> };
type OrEmpty<T> = unknown extends T ? Readonly<Record<string, never>> : T;

export type Fields<Id extends OperationId> = Part<Operations[Id], 'params'> &
  Part<Operations[Id], 'query'> &
  Part<Operations[Id], 'body'>;

type Extra<Op> = Op extends { readonly body: z.ZodType } | { readonly query: z.ZodType }
  ? {
      /** Fields or values that the contract does not take, such as null. They are sent unchecked. */
      readonly extra?: Readonly<Record<string, unknown>> | undefined;
    }
  : unknown;

export type Answer<Id extends OperationId> = z.output<Operations[Id]['response']>;

/** The validated answer of an operation. Fields that the service added are there, without a type. */
export type Output<Id extends OperationId> = Known<Answer<Id>>;

/** A misspelt field must not compile, so the index signature goes. */
type Known<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? Known<Item>[]
    : keyof Named<T> extends never
      ? T
      : { [Key in keyof Named<T>]: Known<Named<T>[Key]> };
type Named<T> = { [Key in keyof T as string extends Key ? never : number extends Key ? never : Key]: T[Key] };
