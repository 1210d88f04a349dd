/** Sends records to an OTLP receiver, in an encoding that it knows. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import type { Dispatcher } from 'undici';
import { createDirectAgent, request } from '../../client/transport/undici.ts';
import { readBody } from '../../wire/body.ts';
import type { LogRecord } from '../record.ts';
import { isAccepted, type ReceiverAnswer } from './otlp-answer.ts';
import { toOtlpRecords, type StreamTimes } from './otlp-records.ts';

export interface OtlpPosterOptions {
  /** Base address, or the whole one with `/v1/logs`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Of one request, ms. */
  readonly timeoutMs: number;
  readonly times: StreamTimes;
}

export interface OtlpPoster {
  post(records: readonly LogRecord[], signal: AbortSignal): Promise<ReceiverAnswer>;
  close(): Promise<void>;
}

const ENCODINGS = {
  protobuf: { contentType: 'application/x-protobuf', serializer: ProtobufLogsSerializer, other: 'json' },
  json: { contentType: 'application/json', serializer: JsonLogsSerializer, other: 'protobuf' },
} as const;
type Encoding = keyof typeof ENCODINGS;

const UNKNOWN_ENCODING = 415;
const MAX_ANSWER_BYTES = 64 * 1024;
const compress = promisify(gzip);

export function otlpPoster({ endpoint, headers, timeoutMs, times }: OtlpPosterOptions): OtlpPoster {
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
