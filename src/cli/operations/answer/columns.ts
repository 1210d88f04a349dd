/** Which columns of a long row a person wants to see, in this order; `--json` has them all. */
import type { OperationId } from '../../../contract/operations.ts';

const WORKER = ['id', 'status', 'cur_load', 'perf', 'measured_perf', 'reqs_working', 'gpu_name', 'loaded_at'];

const INSTANCE = [
  'id',
  'label',
  'actual_status',
  'intended_status',
  'machine_id',
  'gpu_name',
  'num_gpus',
  'dph_total',
  'image_uuid',
];

const COLUMNS: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  'deployments.list': [
    'id',
    'name',
    'tag',
    'endpoint_state',
    'worker_count',
    'ttl',
    'last_client_heartbeat',
    'image',
  ],
  'deployments.versions': ['id', 'version_label', 'image', 'file_hash', 'file_size', 'created_at'],
  'endpointGroups.list': [
    'id',
    'endpoint_name',
    'endpoint_state',
    'min_load',
    'target_util',
    'cold_mult',
    'cold_workers',
    'max_workers',
  ],
  'endpointGroups.workers': WORKER,
  'workergroups.workers': WORKER,
  'instances.list': INSTANCE,
  'instances.page': INSTANCE,
  'offers.search': [
    'id',
    'gpu_name',
    'num_gpus',
    'gpu_ram',
    'dph_total',
    'disk_space',
    'reliability',
    'machine_id',
  ],
  'workergroups.list': [
    'id',
    'endpoint_name',
    'endpoint_id',
    'template_hash',
    'search_query',
    'gpu_ram',
    'test_workers',
    'created_at',
  ],
};

/** undefined: all. */
export function columnsOf(id: OperationId): readonly string[] | undefined {
  return COLUMNS[id];
}
