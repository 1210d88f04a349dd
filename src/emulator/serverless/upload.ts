/** The store that the files of deployments are posted to, as the answer to their creation says. Pure. */
import type { DeploymentVersion } from '../state/endpoints/deployments.ts';
import type { State } from '../state/state.ts';
import { fileKey } from './view.ts';

/** Path at which they are posted. */
export const UPLOAD_FOLDER = '/_upload/';

/** Fields that come with the file. */
export interface UploadFields {
  readonly key: string;
  readonly policy: string;
}

/** undefined where the file of a version has come, or none is waited for. */
export function uploadOf(version: DeploymentVersion): UploadFields | undefined {
  const { uploadPolicy: policy, uploadedMs } = version;
  return policy === null || uploadedMs !== null ? undefined : { key: fileKey(version), policy };
}

export type Received = 'stored' | 'AccessDenied' | 'EntityTooLarge' | 'EntityTooSmall';

/** Takes a file of `bytes` bytes; its content is not kept. */
export function receiveFile(state: State, fields: UploadFields, bytes: number, nowMs: number): Received {
  for (const { versions } of state.deployments.values()) {
    const version = versions.find(({ uploadPolicy }) => uploadPolicy === fields.policy);
    if (!version || fileKey(version) !== fields.key) continue;
    const wanted = version.fileSize ?? bytes;
    if (bytes !== wanted) return bytes > wanted ? 'EntityTooLarge' : 'EntityTooSmall';
    version.uploadedMs ??= nowMs;
    return 'stored';
  }
  return 'AccessDenied';
}
