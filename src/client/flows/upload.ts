/** Posting an archive to where a new deployment says: multipart, its fields first, as an object store takes it. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { WireResponse } from '../../wire/response.ts';
import { AbortedError, CallError, TimeoutError, TransportError } from '../errors.ts';
import { transportReason } from '../transport/reason.ts';
import type { Transport } from '../transport/transport.ts';
import type { Archive } from './archive.ts';

export interface UploadTarget {
  readonly url: string;
  /** Sent before the archive, as they came: they say who may post what, and are secrets. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface UploadOptions {
  readonly transport: Transport;
  /** Longest time without a byte taken, or an answer, in ms. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  readonly onBytes: (sent: number) => void;
}

/** The archive did not get to the store. The deployment is made; doing all of it again is safe. */
export class UploadError extends CallError {
  readonly code = 'upload_failed';
  /** The store's; undefined where it was not asked. */
  readonly status: number | undefined;
  /** Why, in the store's word: `EntityTooLarge`, `AccessDenied`; undefined where it has none. */
  readonly reason: string | undefined;

  constructor(problem: string, { status, reason }: { status?: number; reason?: string | undefined } = {}) {
    super('deployments.create', problem);
    this.status = status;
    this.reason = reason;
  }

  get actor(): 'user' | 'service' {
    const { status } = this;
    if (status === undefined || TAKEN.has(status)) return 'service';
    return status >= 500 || status === 429 || status === 408 ? 'service' : 'user';
  }
}

/** 200, 201 and 204 are what stores answer to a post that they took. */
const TAKEN: ReadonlySet<number> = new Set([200, 201, 204]);
const MAX_ANSWER_BYTES = 1024 * 1024;
const SILENT = new Error('silent');

/** One attempt. @throws UploadError, ArchiveError, TransportError, TimeoutError, AbortedError */
export async function uploadArchive(
  archive: Archive,
  { url, fields }: UploadTarget,
  { transport, silenceMs, signal, onBytes }: UploadOptions,
): Promise<void> {
  const { head, tail, contentType } = envelope(archive.name, fields);
  const ending = new AbortController();
  const watchdog = setTimeout(() => ending.abort(SILENT), silenceMs);
  const forward = (): void => ending.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  if (signal.aborted) forward();

  async function* body(): AsyncGenerator<Uint8Array> {
    yield head;
    let sent = 0;
    for await (const chunk of archive.read()) {
      watchdog.refresh();
      yield chunk;
      // The socket has taken it, and asks for more.
      onBytes((sent += chunk.length));
    }
    watchdog.refresh();
    yield tail;
  }

  let unusable: unknown;
  const stream = Readable.from(body()).on('error', (error) => (unusable = error));
  try {
    const answer = await transport.exchange({
      url,
      method: 'POST',
      headers: {
        'content-type': contentType,
        'content-length': String(head.length + archive.bytes + tail.length),
      },
      body: stream,
      signal: ending.signal,
      fresh: true,
      maxBytes: MAX_ANSWER_BYTES,
    });
    if (!TAKEN.has(answer.status)) throw refusal(answer);
    // What it has taken before all of it had left is not the archive.
    if (!stream.readableEnded) {
      const { status } = answer;
      throw new UploadError(`the store answered before it had the archive: status ${status}`, { status });
    }
  } catch (cause) {
    if (cause instanceof PilotlightError) throw cause;
    if (unusable instanceof PilotlightError) throw unusable;
    if (ending.signal.reason === SILENT) throw new TimeoutError('deployments.create', silenceMs);
    if (signal.aborted) throw new AbortedError('deployments.create', 'aborted while uploading', { cause });
    const error = cause instanceof Error ? cause : new Error(String(cause));
    throw new TransportError('deployments.create', transportReason(error), error);
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', forward);
    stream.destroy();
  }
}

function refusal(answer: WireResponse): UploadError {
  const { status } = answer;
  const reason = reasonOf(answer);
  const why = reason === undefined ? '' : ` ${reason}`;
  return new UploadError(`the store did not take the archive: status ${status}${why}`, { status, reason });
}

/** What stands around the archive: multipart/form-data, RFC 7578. */
function envelope(fileName: string, fields: UploadTarget['fields']) {
  const boundary = `pilotlight-${randomUUID()}`;
  const parts = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`;
  });
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted(fileName)}"\r\nContent-Type: application/gzip\r\n\r\n`;
  return {
    head: Buffer.from(parts.join('') + file),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** As browsers write names in a form (HTML, "multipart/form-data encoding algorithm"). */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

/** The store's word, from its XML or JSON; no other part of its answer, which may repeat the fields. */
function reasonOf({ text }: WireResponse): string | undefined {
  return /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? /"(?:code|error)"\s*:\s*"(\w+)"/i.exec(text)?.[1];
}
