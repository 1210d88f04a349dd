/**
 * Records to an OpenTelemetry receiver over OTLP/HTTP (Collector, Alloy, Loki, most vendors): gzipped batches, each
 * acknowledged by the receiver's answer alone.
 *
 * Not the official exporter: it logs a partial success and reports it as a success, so that what was rejected is
 * counted nowhere, and it retries by itself for as long as its own timeout, without telling a Retry-After that is
 * longer. Its serializer and its reader of answers are used; the spool's pump does the waiting.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import { createDirectAgent, request } from '../../client/transport/undici.ts';
import { readBody } from '../../wire/body.ts';
import type { Batch } from '../spool/batch.ts';
import type { LogRecord } from '../record.ts';
import { acceptanceOf, MAYBE_ONE_RECORD, type Answer } from './otlp-answer.ts';
import { toOtlpRecords } from './otlp-records.ts';
import { StreamTimes } from './otlp-times.ts';
import { ALL_ACCEPTED, type Acceptance, type Sink } from './sink.ts';

export interface OtlpSinkOptions {
  /** Base address, or the whole one with `/v1/logs`. */
  readonly endpoint: string;
  /** Names in lower case; a receiver's token is among them, so they are shown nowhere. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of one request, ms. */
  readonly timeoutMs?: number;
  /** Unix ms. */
  readonly now?: () => number;
}

const ENCODINGS = {
  protobuf: { contentType: 'application/x-protobuf', serializer: ProtobufLogsSerializer },
  json: { contentType: 'application/json', serializer: JsonLogsSerializer },
} as const;
type Encoding = keyof typeof ENCODINGS;

interface Underway {
  readonly records: readonly LogRecord[];
  /** How many of them the receiver has taken or refused for good. */
  readonly done: number;
  readonly acceptance: Acceptance;
}

const TIMEOUT_MS = 30_000;
/** A receiver that was too slow for a request is asked for so much more after each that it takes in time. */
const CEILING_GROWTH = 1.02;
const MAX_ANSWER_BYTES = 64 * 1024;
const compress = promisify(gzip);

export function otlpSink(options: OtlpSinkOptions): Sink {
  const { endpoint, headers, timeoutMs = TIMEOUT_MS, now = Date.now } = options;
  const url = logsUrl(endpoint);
  const agent = createDirectAgent({
    connections: 1,
    allowH2: false,
    keepAliveTimeout: 4_000,
    connect: { timeout: timeoutMs },
  });
  // The protocol's own default, and a third of the size to encode; a receiver that knows only JSON answers 415.
  let encoding: Encoding = 'protobuf';

  /** What came of the batch so far, where it goes in pieces: the pump gives it again as a whole. */
  let underway: Underway = { records: [], done: 0, acceptance: ALL_ACCEPTED };
  /** Records that the next request may have, and that any may: a receiver that is too slow for more takes these. */
  let limit = Infinity;
  let ceiling = Infinity;
  const times = new StreamTimes(now);

  async function write({ records }: Batch, signal: AbortSignal): Promise<Acceptance> {
    if (underway.records !== records) underway = { records, done: 0, acceptance: ALL_ACCEPTED };
    while (underway.done < records.length) {
      const { done, acceptance } = underway;
      const piece = records.slice(done, done + Math.floor(Math.min(limit, ceiling)));
      const answer = await postInTime(piece, signal);
      if (answer.status === 415 && encoding === 'protobuf') {
        encoding = 'json';
      } else if (MAYBE_ONE_RECORD.has(answer.status) && piece.length > 1) {
        limit = piece.length >> 1;
      } else {
        const more = acceptanceOf(answer, piece.length);
        const rejected = acceptance.rejected + more.rejected;
        underway = { records, done: done + piece.length, acceptance: { ...acceptance, ...more, rejected } };
        // After one that was bad the next may be too: only what is taken says that more can be.
        if (!MAYBE_ONE_RECORD.has(answer.status)) limit *= 2;
        ceiling *= CEILING_GROWTH;
      }
    }
    return underway.acceptance;
  }

  /** A request that takes too long may never be answered in time, so the next one is half as large. */
  async function postInTime(piece: readonly LogRecord[], signal: AbortSignal): Promise<Answer> {
    try {
      return await post(piece, signal);
    } catch (error) {
      const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
      if (isTimeout && !signal.aborted) ceiling = Math.max(1, piece.length >> 1);
      throw error;
    }
  }

  async function post(records: readonly LogRecord[], signal: AbortSignal): Promise<Answer> {
    const { contentType, serializer } = ENCODINGS[encoding];
    const body = serializer.serializeRequest(toOtlpRecords(records, times));
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
    const { statusCode: status, headers: received } = response;
    // Of a longer answer the beginning is enough: the rest says nothing about the records.
    const { bytes } = await readBody(response.body as AsyncIterable<Buffer>, MAX_ANSWER_BYTES);
    return { status, headers: received, body: bytes };
  }

  return { name: 'otlp', write, close: () => agent.destroy() };
}

function logsUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith('/v1/logs')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/logs`;
  return url;
}
