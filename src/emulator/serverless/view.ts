/** Deployments as the public dialect shows them. Pure. */
import type { DeploymentVersion as ShownVersion } from '../../contract/operations/serverless/deploy.ts';
import type { Deployment } from '../../contract/operations/serverless/deployment.ts';
import type { DeploymentRecord, DeploymentVersion } from '../state/endpoints/deployments.ts';
import type { State } from '../state/state.ts';
import { currentVersion } from './deploy.ts';
import { endpointOf, endpointWorkers } from './endpoints.ts';

export function deploymentView(record: DeploymentRecord, state: State): Deployment {
  const { id, name, tag, endpointState, ttlMs, lastHeartbeatMs, createdMs, updatedMs, versions } = record;
  const version = currentVersion(record);
  const endpoint = endpointOf(state, id);
  return {
    id,
    name,
    tag,
    image: version.image,
    file_hash: version.fileHash,
    current_version_id: version.id,
    last_healthy_version_id: versions.findLast(({ uploadedMs }) => uploadedMs !== null)?.id ?? null,
    s3_key: fileKey(version),
    env: version.env,
    storage: version.storage,
    search_params: version.searchParams,
    endpoint_id: endpoint?.id ?? null,
    endpoint_state: endpointState,
    worker_count: endpoint ? endpointWorkers(state, endpoint.id).length : 0,
    ttl: ttlMs === null ? null : ttlMs / 1000,
    last_client_heartbeat: lastHeartbeatMs === null ? null : lastHeartbeatMs / 1000,
    created_at: createdMs / 1000,
    updated_at: updatedMs / 1000,
  };
}

export function versionView(version: DeploymentVersion): ShownVersion {
  const { id, label, image, fileHash, fileSize, createdMs, uploadedMs } = version;
  return {
    id,
    version_label: label,
    image,
    file_hash: fileHash,
    file_size: fileSize,
    s3_key: fileKey(version),
    created_at: createdMs / 1000,
    uploaded_at: uploadedMs === null ? null : uploadedMs / 1000,
  };
}

/** The name of a version's file in the store. */
export function fileKey({ id, fileHash }: DeploymentVersion): string {
  return `deployments/${id}/${fileHash}.tar.gz`;
}
