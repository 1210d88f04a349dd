/** Deploys an archive: hash it, make or update the deployment, upload it if the answer says so. */
import { createHash, randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { Input, Output } from '../../contract/operations.ts';
import type { WireResponse } from '../../wire/response.ts';
import type { Client } from '../client.ts';
import { delay, NEVER, DEFAULT_RETRY, retryDelay, type RetryPolicy } from '../retry.ts';
import {
  AbortedError,
  ArchiveError,
  CallError,
  ResponseError,
  TimeoutError,
  TransportError,
  UploadError,
  transportReason,
} from '../errors.ts';
import { createTransport, type Transport } from '../transport/transport.ts';

/** The request, without what the archive says itself. */
export type DeployRequest = Omit<Input<'deployments.create'>, 'file_hash' | 'file_size'>;

/** The archive, the request, and how long to try. Times in ms. */
export interface DeployOptions {
  /** Path of the archive, or an open archive. */
  readonly archive: string | Archive;
  readonly request: DeployRequest;
  /** Longest time of one attempt of the request, and of an upload that stands still, in ms. Default 30 s. */
  readonly timeoutMs?: number;
  /** Of the upload. Default: three attempts with jitter. */
  readonly retry?: RetryPolicy;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DeployProgress) => void;
  /** In [0, 1), for the waits between attempts. */
  readonly random?: () => number;
}

/** A step of `deployArchive`. Sizes in bytes, times in ms. */
export type DeployProgress =
  | { readonly step: 'hashed'; readonly hash: string; readonly bytes: number }
  | { readonly step: 'made'; readonly deploymentId: number; readonly action: string | undefined }
  | { readonly step: 'uploading'; readonly sent: number; readonly bytes: number }
  /** An attempt failed; the next one follows after `waitMs`. */
  | { readonly step: 'repeating'; readonly reason: string; readonly waitMs: number };

/** The deployment, and what became of its archive. */
export interface DeployedArchive {
  readonly deploymentId: number;
  /** created, soft_update, autoscale_update or exists. */
  readonly action: string | undefined;
  readonly endpointId: number | undefined;
  readonly workergroupId: number | undefined;
  /** SHA-256 of the archive. */
  readonly hash: string;
  readonly bytes: number;
  /** False if the service had the archive. */
  readonly uploaded: boolean;
}

export interface Archive {
  readonly path: string;
  readonly content: Blob;
  /** SHA-256 in hexadecimal. This is assumed: the public service does not document its hash. */
  readonly hash: string;
}

export async function openArchive(path: string, signal: AbortSignal = NEVER): Promise<Archive> {
  const hash = createHash('sha256');
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new ArchiveError(path, 'is a folder, and no archive');
    if (!found.isFile()) throw new ArchiveError(path, 'is no file');
    if (found.size === 0) throw new ArchiveError(path, 'is empty');
    const content = await openAsBlob(path);
    for await (const chunk of content.stream()) {
      signal.throwIfAborted();
      hash.update(chunk);
    }
    return { path, content, hash: hash.digest('hex') };
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    if (signal.aborted) throw new AbortedError(OPERATION, 'aborted while the archive was hashed', { cause });
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'there is no such file' : `cannot be read (${message})`;
    throw new ArchiveError(path, problem, { cause });
  }
}

const OPERATION = 'deployments.create';
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Makes or updates a deployment, and uploads its archive if the service wants it. Repeating it is safe.
 * @throws ArchiveError for an unusable file; UploadError if the store refuses it or the answer lacks its
 * address; AbortedError when the signal fires; what `deployments.create` throws
 */
export async function deployArchive(client: Client, options: DeployOptions): Promise<DeployedArchive> {
  const { archive: given, request, timeoutMs = DEFAULT_TIMEOUT_MS, signal = NEVER } = options;
  const { onProgress = () => {} } = options;
  const archive = typeof given === 'string' ? await openArchive(given, signal) : given;
  const { hash } = archive;
  const bytes = archive.content.size;
  onProgress({ step: 'hashed', hash, bytes });
  const made = await client.deployments.create(
    { ...request, file_hash: hash, file_size: bytes },
    { signal, timeoutMs },
  );
  const { deployment_id: deploymentId, action } = made;
  onProgress({ step: 'made', deploymentId, action });
  const target = targetOf(made);
  if (target) await upload(archive, target, { ...options, onProgress, timeoutMs, signal });
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

interface UploadTarget {
  readonly url: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

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
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ResponseError(OPERATION, 200, 'upload_url is no web address');
  return { url, fields };
}

type UploadOptions = DeployOptions & Required<Pick<DeployOptions, 'onProgress' | 'timeoutMs' | 'signal'>>;

async function upload(archive: Archive, target: UploadTarget, options: UploadOptions): Promise<void> {
  const { retry = DEFAULT_RETRY, random = Math.random, signal, onProgress } = options;
  await using transport = createTransport();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await post(archive, target, { ...options, transport });
    } catch (error) {
      const waitMs = error instanceof CallError ? retryDelay(error, attempt, retry, random) : undefined;
      if (waitMs === undefined) throw error;
      onProgress({ step: 'repeating', reason: (error as Error).message, waitMs });
      await delay(waitMs, signal).catch((cause: unknown) => {
        throw new AbortedError(OPERATION, 'aborted while waiting to upload again', { cause });
      });
    }
  }
}

const MAX_ANSWER_BYTES = 1024 * 1024;

async function post(
  archive: Archive,
  { url, fields }: UploadTarget,
  { transport, timeoutMs, signal, onProgress }: UploadOptions & { readonly transport: Transport },
): Promise<void> {
  const { form, contentType } = formOf(archive, fields);
  const silence = new AbortController();
  const watchdog = setTimeout(() => silence.abort(), timeoutMs);

  async function* body(): AsyncGenerator<Uint8Array> {
    let sent = 0;
    for await (const chunk of form.stream()) {
      yield chunk;
      watchdog.refresh();
      onProgress({ step: 'uploading', sent: (sent += chunk.length), bytes: form.size });
    }
  }

  let unreadable: unknown;
  const stream = Readable.from(body()).on('error', (error) => (unreadable = error));
  try {
    const answer = await transport.exchange({
      url,
      method: 'POST',
      headers: { 'content-type': contentType, 'content-length': String(form.size) },
      body: stream,
      signal: AbortSignal.any([signal, silence.signal]),
      fresh: true,
      maxBytes: MAX_ANSWER_BYTES,
    });
    if (![200, 201, 204].includes(answer.status)) throw refusal(answer);
  } catch (cause) {
    if (cause instanceof UploadError) throw cause;
    if (silence.signal.aborted) throw new TimeoutError(OPERATION, timeoutMs);
    if (signal.aborted) throw new AbortedError(OPERATION, 'aborted while uploading', { cause });
    if (unreadable instanceof DOMException)
      throw new ArchiveError(archive.path, 'was changed while it was sent; deploy it once more', { cause });
    throw new TransportError(OPERATION, transportReason(cause as Error), cause as Error);
  } finally {
    clearTimeout(watchdog);
    stream.destroy();
  }
}

/** Quotes only the store's error word: the rest may repeat the secret fields. */
function refusal({ status, text }: WireResponse): UploadError {
  const [, reason] = /<Code>(\w+)<\/Code>/.exec(text) ?? /"(?:code|error)"\s*:\s*"(\w+)"/i.exec(text) ?? [];
  const why = reason === undefined ? '' : ` ${reason}`;
  return new UploadError(`the store did not take the archive: status ${status}${why}`, { status, reason });
}

/** multipart/form-data (RFC 7578). Object stores want the file last. */
function formOf({ path, content }: Archive, fields: UploadTarget['fields']) {
  const boundary = `pilotlight-${randomUUID()}`;
  const part = (head: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`;
  const written = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${part(`name="${quoted(name)}"`)}${text}\r\n`;
  });
  const fileName = quoted(basename(path));
  const file = part(`name="file"; filename="${fileName}"\r\nContent-Type: application/gzip`);
  return {
    form: new Blob([...written, file, content, `\r\n--${boundary}--\r\n`]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** As browsers write names (HTML, "multipart/form-data encoding algorithm"). */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
