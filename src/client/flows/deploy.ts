/**
 * Making a deployment of an archive is several steps: hash it, make the deployment or bring it up to date, and post the
 * archive where the answer says, if it is wanted. All of it can be done again without harm: a deployment that has the
 * archive already stays as it is.
 */
import type { Input, Output } from '../../contract/operations.ts';
import type { Client } from '../client.ts';
import { delay } from '../delay.ts';
import { AbortedError, ResponseError, TimeoutError, TransportError } from '../errors.ts';
import { DEFAULT_RETRY, type RetryPolicy } from '../retry.ts';
import { createTransport } from '../transport/transport.ts';
import { openArchive, type Archive } from './archive.ts';
import { UploadError, uploadArchive, type UploadOptions, type UploadTarget } from './upload.ts';

/** What `deployments.create` takes, but for what the archive says itself. */
export type DeployRequest = Omit<Input<'deployments.create'>, 'file_hash' | 'file_size'>;

export interface DeployOptions {
  /** Path of the archive, or one that is open already, which stays open. */
  readonly archive: string | Archive;
  readonly request: DeployRequest;
  /** Of each attempt of the request, and the longest time in which an upload does not move; ms. Default 30 s. */
  readonly timeoutMs?: number;
  /** For the upload; default three attempts with jitter. */
  readonly retry?: RetryPolicy;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DeployProgress) => void;
  /** In [0, 1); for the pauses between attempts. */
  readonly random?: () => number;
}

export type DeployProgress =
  | { readonly step: 'hashed'; readonly hash: string; readonly bytes: number }
  | { readonly step: 'made'; readonly deploymentId: number; readonly action: string | undefined }
  | { readonly step: 'uploading'; readonly sent: number; readonly bytes: number }
  /** An attempt failed, and another one follows after `waitMs`. */
  | { readonly step: 'repeating'; readonly reason: string; readonly waitMs: number };

export interface DeployedArchive {
  readonly deploymentId: number;
  /** created, soft_update, autoscale_update or exists. */
  readonly action: string | undefined;
  readonly endpointId: number | undefined;
  readonly workergroupId: number | undefined;
  /** SHA-256 of the archive. */
  readonly hash: string;
  readonly bytes: number;
  /** False where the service had the archive already. */
  readonly uploaded: boolean;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * @throws ArchiveError for a file that is missing, empty or no file, before anything is sent, and for one that changes
 *   meanwhile; UploadError when the store refuses it, or the answer does not say how to get there; AbortedError when the signal fired; what `deployments.create` throws
 */
export async function deployArchive(client: Client, options: DeployOptions): Promise<DeployedArchive> {
  const { archive: given, signal = NEVER } = options;
  if (typeof given !== 'string') return await deploy(client, given, options);
  await using archive = await openArchive(given, signal);
  return await deploy(client, archive, options);
}

async function deploy(client: Client, archive: Archive, options: DeployOptions): Promise<DeployedArchive> {
  const { request, timeoutMs = DEFAULT_TIMEOUT_MS, signal = NEVER, onProgress = () => {} } = options;
  const { hash, bytes } = archive;
  onProgress({ step: 'hashed', hash, bytes });
  const made = await client.deployments.create(
    { ...request, file_hash: hash, file_size: bytes },
    { signal, timeoutMs },
  );
  const { deployment_id: deploymentId, action } = made;
  onProgress({ step: 'made', deploymentId, action });
  const target = targetOf(made);
  if (target) await upload(archive, target, options);
  return {
    deploymentId,
    action,
    endpointId: made.endpoint_id ?? undefined,
    workergroupId: made.workergroup_id ?? undefined,
    hash,
    bytes,
    uploaded: target !== undefined,
  };
}

/** Undefined where the service wants no archive: both fields come, or neither. */
function targetOf(made: Output<'deployments.create'>): UploadTarget | undefined {
  const { upload_url: url, upload_fields: fields } = made;
  if (!url && Object.keys(fields ?? {}).length === 0) return undefined;
  if (!url || !fields) {
    const missing = url ? 'upload_fields' : 'upload_url';
    throw new UploadError(
      `deployment ${made.deployment_id} is made (${made.action ?? 'no action said'}), and its archive is not uploaded: ` +
        `the answer has no ${missing} that can be read`,
    );
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ResponseError('deployments.create', 200, 'upload_url is no web address');
  return { url, fields };
}

async function upload(archive: Archive, target: UploadTarget, options: DeployOptions): Promise<void> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, retry = DEFAULT_RETRY, signal = NEVER } = options;
  const { onProgress = () => {}, random = Math.random } = options;
  await using transport = createTransport();
  const uploadOptions: UploadOptions = {
    transport,
    silenceMs: timeoutMs,
    signal,
    onBytes: (sent) => onProgress({ step: 'uploading', sent, bytes: archive.bytes }),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await uploadArchive(archive, target, uploadOptions);
    } catch (error) {
      if (attempt >= retry.attempts || !isPassing(error)) throw error;
      const waitMs = random() * Math.min(retry.maxMs, retry.baseMs * 2 ** (attempt - 1));
      onProgress({ step: 'repeating', reason: error.message, waitMs });
      await delay(waitMs, signal).catch((cause: unknown) => {
        throw new AbortedError('deployments.create', 'aborted while waiting to upload again', { cause });
      });
    }
  }
}

/** Posting the same archive twice is posting it once. */
function isPassing(error: unknown): error is UploadError | TransportError | TimeoutError {
  if (error instanceof UploadError) return error.actor === 'service';
  return error instanceof TransportError || error instanceof TimeoutError;
}

const NEVER = new AbortController().signal;
