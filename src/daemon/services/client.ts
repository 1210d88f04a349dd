import type { ApiKey } from '../../client/api-key.ts';
import type { Gate } from '../../client/gate.ts';
import { createPartialClient, type ClientOf } from '../../client/caller.ts';
import type { Settings } from '../../config/options.ts';
import { instanceListOperations } from '../../contract/operations/instances/instance-list.ts';
import { machineOperations } from '../../contract/operations/machines.ts';
import { endpointGroupOperations } from '../../contract/operations/serverless/endpoint-groups.ts';
import { serverlessOperations } from '../../contract/operations/serverless/serverless.ts';
import { workerGroupListOperations } from '../../contract/operations/serverless/worker-group-list.ts';
import { endpointWorkerOperations } from '../../contract/operations/serverless/workers.ts';
import { spendOperations } from '../../contract/operations/spend.ts';
import { tfaStatusOperations } from '../../contract/operations/tfa/tfa-status.ts';
import { userOperations } from '../../contract/operations/users.ts';
import type { Metrics } from '../metrics.ts';
import type { ServiceTraits } from './service-traits.ts';

const OPERATIONS = {
  ...serverlessOperations,
  ...workerGroupListOperations,
  'endpointGroups.list': endpointGroupOperations['endpointGroups.list'],
  'endpointGroups.logs': endpointWorkerOperations['endpointGroups.logs'],
  'endpointGroups.workers': endpointWorkerOperations['endpointGroups.workers'],
  ...machineOperations,
  'instances.list': instanceListOperations['instances.list'],
  'instances.page': instanceListOperations['instances.page'],
  'serverless.endpointsSpend': spendOperations['serverless.endpointsSpend'],
  'charges.list': spendOperations['charges.list'],
  ...userOperations,
  ...tfaStatusOperations,
} as const;

type DaemonOperationId = keyof typeof OPERATIONS;
/** The `operation` labels of the metrics, with the requests of the heart. */
export const DAEMON_OPERATION_IDS = Object.keys(OPERATIONS) as DaemonOperationId[];
export type DaemonClient = ClientOf<DaemonOperationId>;

export class ClockSkew {
  /** The service's clock minus ours, in tenths; null before the first answer. */
  seconds: number | null = null;

  /** `at`: when the answer came, Unix ms. */
  observe(serverDate: string | undefined, at: number): void {
    const served = Date.parse(serverDate ?? '');
    // The header counts whole seconds, so half of one is added.
    if (!Number.isNaN(served)) this.seconds = Math.round((served + 500 - at) / 100) / 10;
  }
}

interface DaemonClientOptions {
  readonly settings: Pick<Settings, 'baseUrl' | 'serverlessUrl'>;
  readonly apiKey: ApiKey;
  readonly metrics: Pick<Metrics, 'client'>;
  readonly clockSkew: ClockSkew;
  readonly traits: Pick<ServiceTraits, 'see'>;
  readonly gate: Gate;
}

export function createDaemonClient(options: DaemonClientOptions): DaemonClient {
  const { apiKey, metrics, clockSkew, traits, gate } = options;
  const { baseUrl, serverlessUrl } = options.settings;
  return createPartialClient(OPERATIONS, {
    baseUrl,
    ...(serverlessUrl !== undefined && { serverlessUrl }),
    apiKey: () => apiKey.current() || undefined,
    gate,
    observe: {
      ...metrics.client,
      exchange(event) {
        metrics.client.exchange?.(event);
        clockSkew.observe(event.serverDate, Date.now());
      },
      answer: (event) => traits.see(event),
    },
  });
}
