/**
 * Records to an OpenTelemetry receiver over OTLP/HTTP (Collector, Alloy, Loki, most vendors): gzipped batches, each
 * acknowledged by the receiver's answer.
 *
 * Not the official exporter: it reports a partial success as a success, so rejected records are counted nowhere, and it
 * hides a Retry-After that is longer than its own timeout. Its serializer and its reader of answers are used.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import type { Dispatcher } from 'undici';
import { createDirectAgent, request } from '../../client/transport/undici.ts';
import { readBody } from '../../wire/body.ts';
import { retryAfterMs } from '../../wire/rate-limit.ts';
import type { LogRecord } from '../record.ts';
import type { Batch } from '../spool/spool-database.ts';
import { toOtlpRecords } from './otlp-records.ts';
import { type Acceptance, ALL_ACCEPTED, type Sink, SinkBusy } from './sink.ts';

export interface OtlpSinkOptions {
  /** Base address, or the whole one with `/v1/logs`. */
  readonly endpoint: string;
  /** Names in lower case. A token may be among them: they are shown nowhere. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of one request, ms. */
  readonly timeoutMs?: number;
}

interface Underway {
  readonly records: readonly LogRecord[];
  /** How many of them were taken, or refused alone. */
  readonly done: number;
  /** Refused alone: they are bad, or the server is not a receiver. */
  readonly suspects: readonly LogRecord[];
  readonly acceptance: Acceptance;
}

const TIMEOUT_MS = 30_000;
/** After a timeout, requests grow by this with each that is taken in time. */
const CEILING_GROWTH = 1.02;
/** Records refused one by one, with nothing taken between, until the receiver is left alone for a while. */
const MOST_REFUSALS = 16;

export function otlpSink(options: OtlpSinkOptions): Sink {
  const poster = otlpPoster(options);

  /** What came of the batch so far. After a failure the pump gives it again, as a whole. */
  let underway: Underway = begin([]);
  /** Records that the next request may have because of refusals, and because of timeouts. */
  let limit = Infinity;
  let ceiling = Infinity;
  /** The receiver has taken something during this write. */
  let isTaking = false;

  async function write({ records }: Batch, signal: AbortSignal): Promise<Acceptance> {
    if (underway.records !== records) underway = begin(records);
    isTaking = false;
    let refused = await askAgain(signal);
    for (let refusals = 0; underway.done < records.length;) {
      const { done } = underway;
      const piece = records.slice(done, done + Math.floor(Math.min(limit, ceiling)));
      const answer = await postInTime(piece, signal);
      if (!isRefusal(answer)) {
        underway = added(underway, acceptanceOf(answer, piece.length), { done: done + piece.length });
        // After a bad record the next may be bad too, so the limit rises only with success.
        limit *= 2;
        ceiling *= CEILING_GROWTH;
        [isTaking, refusals] = [true, 0];
      } else if (piece.length > 1) {
        limit = piece.length >> 1;
      } else {
        refused = answer;
        underway = { ...underway, done: done + 1, suspects: [...underway.suspects, ...piece] };
        refusals += 1;
        if (refusals === MOST_REFUSALS) throw busy(answer);
      }
    }
    if (!isTaking && refused !== undefined) {
      if (!(await takesNothing(signal))) throw busy(refused);
      isTaking = true;
    }
    await askAgain(signal);
    return underway.acceptance;
  }

  /**
   * The receiver may be another by now, so what was refused is sent once more before it counts as bad. It does only if
   * something else is taken.
   *
   * @returns The refusal, if nothing else was taken.
   */
  async function askAgain(signal: AbortSignal): Promise<ReceiverAnswer | undefined> {
    for (let size = 1; underway.suspects.length > 0;) {
      const piece = underway.suspects.slice(0, size);
      const rest = underway.suspects.slice(size);
      const answer = await postInTime(piece, signal);
      if (!isRefusal(answer)) {
        underway = added(underway, acceptanceOf(answer, piece.length), { suspects: rest });
        isTaking = true;
        size *= 2;
      } else if (piece.length > 1) {
        size = 1;
      } else if (isTaking) {
        underway = added(underway, { rejected: 1, message: messageOf(answer) }, { suspects: rest });
      } else {
        return answer;
      }
    }
    return undefined;
  }

  /**
   * If each of a few records is refused, it may be they or the address. A receiver of logs takes an empty request
   * (OTLP/HTTP: "SHOULD respond with success"), and other servers do not. If many are refused, it is the address.
   */
  async function takesNothing(signal: AbortSignal): Promise<boolean> {
    if (underway.suspects.length > MOST_REFUSALS) return false;
    const answer = await postInTime([], signal);
    if (isRefusal(answer)) return false;
    acceptanceOf(answer, 0);
    return true;
  }

  /** After a timeout, the next request is half as large. */
  async function postInTime(piece: readonly LogRecord[], signal: AbortSignal): Promise<ReceiverAnswer> {
    try {
      return await poster.post(piece, signal);
    } catch (error) {
      const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
      if (isTimeout) ceiling = Math.max(1, piece.length >> 1);
      throw error;
    }
  }

  return { name: 'otlp', write, close: () => poster.close() };
}

function begin(records: readonly LogRecord[]): Underway {
  return { records, done: 0, suspects: [], acceptance: ALL_ACCEPTED };
}

function added(before: Underway, more: Acceptance, change: Partial<Underway>): Underway {
  const rejected = before.acceptance.rejected + more.rejected;
  return { ...before, ...change, acceptance: { ...before.acceptance, ...more, rejected } };
}

const ENCODINGS = {
  protobuf: { contentType: 'application/x-protobuf', serializer: ProtobufLogsSerializer, other: 'json' },
  json: { contentType: 'application/json', serializer: JsonLogsSerializer, other: 'protobuf' },
} as const;
type Encoding = keyof typeof ENCODINGS;

const UNKNOWN_ENCODING = 415;
const MAX_ANSWER_BYTES = 64 * 1024;
const compress = promisify(gzip);

/** Sends records in an encoding that the receiver knows. */
function otlpPoster({ endpoint, headers, timeoutMs = TIMEOUT_MS }: OtlpSinkOptions) {
  const url = logsUrl(endpoint);
  const agent = createDirectAgent({
    connections: 1,
    allowH2: false,
    keepAliveTimeout: 4_000,
    connect: { timeout: timeoutMs },
  });
  // The protocol's default, and cheaper. A receiver that knows only JSON answers 415.
  let encoding: Encoding = 'protobuf';

  async function post(records: readonly LogRecord[], signal: AbortSignal): Promise<ReceiverAnswer> {
    const answer = await postAs(encoding, records, signal);
    if (answer.status !== UNKNOWN_ENCODING) return answer;
    const { other } = ENCODINGS[encoding];
    const second = await postAs(other, records, signal);
    // A server that answers 415 to both is not a receiver.
    if (isAccepted(second)) encoding = other;
    return second;
  }

  async function postAs(
    wanted: Encoding,
    records: readonly LogRecord[],
    signal: AbortSignal,
  ): Promise<ReceiverAnswer> {
    const { contentType, serializer } = ENCODINGS[wanted];
    const body = serializer.serializeRequest(toOtlpRecords(records));
    if (body === undefined) throw new Error('the records could not be encoded');
    const response = await request(agent, {
      origin: url.origin,
      path: url.pathname,
      method: 'POST',
      headers: {
        'user-agent': 'pilotlight',
        ...headers,
        'content-type': contentType,
        'content-encoding': 'gzip',
      },
      body: await compress(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    return { status: response.statusCode, headers: response.headers, body: await beginningOf(response) };
  }

  return { post, close: () => agent.destroy() };
}

/** The status says it all: records that were taken must not be sent again if the body is long, cut or never ends. */
async function beginningOf({ body }: Dispatcher.ResponseData): Promise<Buffer> {
  try {
    return (await readBody(body as AsyncIterable<Buffer>, MAX_ANSWER_BYTES)).bytes;
  } catch {
    return Buffer.alloc(0);
  }
}

function logsUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith('/v1/logs')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/logs`;
  return url;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/**
 * Refusals that may be about the records, or their number: half of them are sent then, until the bad one is alone. A wrong
 * address answers so too (a TLS port answers 400 to plain HTTP): a record is bad only if the receiver takes others.
 */
const REFUSED_CONTENT: ReadonlySet<number> = new Set([400, 413, 422]);

export function isRefusal({ status }: ReceiverAnswer): boolean {
  return REFUSED_CONTENT.has(status);
}

/** An HTML page is not from the receiver, but a login page or another program at that address. */
export function isAccepted({ status, headers, body }: ReceiverAnswer): boolean {
  const isPage = body.length > 0 && /html/i.test(String(headers['content-type'] ?? ''));
  return status >= 200 && status < 300 && !isPage;
}

/**
 * Other failures say nothing against the records, which wait in the spool: a busy receiver recovers, and 401, 403, 404 or
 * a redirect wait for a person. OTLP/HTTP would have the records dropped for all but 429, 502, 503 and 504 (specification,
 * "Failures"): right for telemetry that an application must get rid of, not for lines in a bounded spool.
 *
 * @param sent Records of the request. @throws SinkBusy if a repetition may help.
 */
export function acceptanceOf(answer: ReceiverAnswer, sent: number): Acceptance {
  if (!isAccepted(answer)) throw busy(answer);
  const { headers, body } = answer;
  const isJson = String(headers['content-type'] ?? '').includes('json');
  const serializer = isJson ? JsonLogsSerializer : ProtobufLogsSerializer;
  const { partialSuccess } = parsed(() => serializer.deserializeResponse(body));
  // It says how many it refuses for good, not which. JSON has 64-bit integers as strings, contrary to the package's type.
  const told: unknown = partialSuccess?.rejectedLogRecords;
  const rejected = Math.min(sent, Math.max(0, Number(told ?? 0) || 0));
  if (rejected === 0) return ALL_ACCEPTED;
  return { rejected, message: partialSuccess?.errorMessage ?? 'the receiver gave no reason' };
}

export function busy(answer: ReceiverAnswer): SinkBusy {
  const { status, headers } = answer;
  const isTemporary = status >= 500 || status === 408 || status === 429;
  const advice = isTemporary ? undefined : 'check PILOTLIGHT_OTLP_ENDPOINT and PILOTLIGHT_OTLP_HEADERS';
  return new SinkBusy(messageOf(answer), { retryAfterMs: retryAfterMs(headers, Date.now()), advice });
}

type OtlpAnswer = ReturnType<typeof ProtobufLogsSerializer.deserializeResponse>;

/** The status says that the batch was taken, also if the body cannot be read. */
function parsed(parse: () => OtlpAnswer): OtlpAnswer {
  try {
    return parse() ?? {};
  } catch {
    return {};
  }
}

export function messageOf({ status, headers, body }: ReceiverAnswer): string {
  const isText = /json|text/.test(String(headers['content-type'] ?? ''));
  const text = isText ? body.toString('utf8', 0, 200).trim() : '';
  return `the receiver answered ${text === '' ? status : `${status}: ${text}`}`;
}
