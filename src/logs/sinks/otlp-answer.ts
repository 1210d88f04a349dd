/** What an OTLP receiver's answer means for the records that it was sent. */
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import type { Dispatcher } from 'undici';
import { retryAfterMs } from '../../wire/rate-limit.ts';
import { ALL_ACCEPTED, SinkBusy, type Acceptance } from './sink.ts';

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
export function isAccepted(answer: ReceiverAnswer): boolean {
  return answer.status >= 200 && answer.status < 300 && !isPage(answer);
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
  return partialAcceptance(answer, sent);
}

export function busy(answer: ReceiverAnswer): SinkBusy {
  const { status, headers } = answer;
  const isTemporary = status >= 500 || status === 408 || status === 429;
  const advice = isTemporary ? undefined : 'check PILOTLIGHT_OTLP_ENDPOINT and PILOTLIGHT_OTLP_HEADERS';
  return new SinkBusy(messageOf(answer), { retryAfterMs: retryAfterMs(headers, Date.now()), advice });
}

/** A receiver may refuse some records of a batch for good: it says how many, not which. */
function partialAcceptance({ headers, body }: ReceiverAnswer, sent: number): Acceptance {
  const isJson = String(headers['content-type'] ?? '').includes('json');
  const serializer = isJson ? JsonLogsSerializer : ProtobufLogsSerializer;
  const { partialSuccess } = parsed(() => serializer.deserializeResponse(body));
  // JSON has 64-bit integers as strings, contrary to the package's type.
  const told: unknown = partialSuccess?.rejectedLogRecords;
  const rejected = Math.min(sent, Math.max(0, Number(told ?? 0) || 0));
  if (rejected === 0) return ALL_ACCEPTED;
  return { rejected, message: partialSuccess?.errorMessage ?? 'the receiver gave no reason' };
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

function isPage({ headers, body }: ReceiverAnswer): boolean {
  return body.length > 0 && /html/i.test(String(headers['content-type'] ?? ''));
}
