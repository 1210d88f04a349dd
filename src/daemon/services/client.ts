/** The client of the daemon: the few operations that it calls, so that the schemas of the others are not loaded. */
import type { ClientOptions } from '../../client/caller.ts';
import { createPartialClient, type ClientOf } from '../../client/partial-client.ts';
import { instanceListOperations } from '../../contract/operations/instance-list.ts';
import { machineOperations } from '../../contract/operations/machines.ts';
import { serverlessOperations } from '../../contract/operations/serverless.ts';
import { tfaStatusOperations } from '../../contract/operations/tfa-status.ts';
import { userOperations } from '../../contract/operations/users.ts';

const OPERATIONS = {
  ...serverlessOperations,
  ...machineOperations,
  ...instanceListOperations,
  ...userOperations,
  ...tfaStatusOperations,
} as const;

type DaemonOperationId = keyof typeof OPERATIONS;
/** Of every request that the daemon makes, the heartbeats' own included: they are the metrics' `operation` labels. */
export const DAEMON_OPERATION_IDS = Object.keys(OPERATIONS) as DaemonOperationId[];
export type DaemonClient = ClientOf<DaemonOperationId>;

export function createDaemonClient(options: ClientOptions): DaemonClient {
  return createPartialClient(OPERATIONS, options);
}
