/** What an OTLP receiver's answer means for the records that it was sent. */
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import type { Dispatcher } from 'undici';
import { retryAfterMs } from '../../wire/rate-limit.ts';
import { ALL_ACCEPTED, SinkBusy, type Acceptance } from './sink.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/**
 * The refusals that may be about what was sent: malformed, too large, not to be processed. One record among many may be
 * the cause, or their number, so half of them are asked for then, until the bad one is alone. Also what a wrong address
 * answers (a TLS port answers 400 to plain HTTP), so nothing is bad that was not refused by what takes others.
 */
const REFUSED_CONTENT: ReadonlySet<number> = new Set([400, 413, 422]);

export function isRefusal({ status }: Answer): boolean {
  return REFUSED_CONTENT.has(status);
}

/** With a page instead of an answer it was not the receiver: a login page, or any other program at that address. */
export function isAccepted(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300 && !isPage(answer);
}

/**
 * Every other answer says nothing against the records. A receiver that is busy or broken recovers by itself. One that
 * answers 401, 403, 404 or with a redirect waits for a person: the token has run out, the address is wrong, and
 * dropping for that would lose every line until somebody looks. So the records wait in the spool, whose bound is
 * the bound on all of it; what falls out there is counted as overflow.
 *
 * OTLP/HTTP itself lists 429, 502, 503 and 504 and would have all else dropped at once (specification, "Failures"):
 * right for telemetry that an application must get rid of, not for lines that wait in a bounded spool anyway.
 *
 * @param sent Records of the request. @throws SinkBusy where a repetition may change the answer.
 */
export function acceptanceOf(answer: Answer, sent: number): Acceptance {
  if (!isAccepted(answer)) throw busy(answer);
  return partialAcceptance(answer, sent);
}

export function busy(answer: Answer): SinkBusy {
  const { status, headers } = answer;
  const isTemporary = status >= 500 || status === 408 || status === 429;
  const advice = isTemporary ? undefined : 'check PILOTLIGHT_OTLP_ENDPOINT and PILOTLIGHT_OTLP_HEADERS';
  return new SinkBusy(messageOf(answer), { retryAfterMs: retryAfterMs(headers, Date.now()), advice });
}

/** A receiver may take a batch and refuse some of its records for good: it says how many, not which. */
function partialAcceptance({ headers, body }: Answer, sent: number): Acceptance {
  const isJson = String(headers['content-type'] ?? '').includes('json');
  const serializer = isJson ? JsonLogsSerializer : ProtobufLogsSerializer;
  const { partialSuccess } = parsed(() => serializer.deserializeResponse(body));
  // JSON has 64-bit integers as strings, whatever the package's type says.
  const told: unknown = partialSuccess?.rejectedLogRecords;
  const rejected = Math.min(sent, Math.max(0, Number(told ?? 0) || 0));
  if (rejected === 0) return ALL_ACCEPTED;
  return { rejected, message: partialSuccess?.errorMessage ?? 'the receiver gave no reason' };
}

type OtlpAnswer = ReturnType<typeof ProtobufLogsSerializer.deserializeResponse>;

/** The status has said that the batch was taken; a body that cannot be read adds nothing. */
function parsed(parse: () => OtlpAnswer): OtlpAnswer {
  try {
    return parse() ?? {};
  } catch {
    return {};
  }
}

export function messageOf({ status, headers, body }: Answer): string {
  const isText = /json|text/.test(String(headers['content-type'] ?? ''));
  const text = isText ? body.toString('utf8', 0, 200).trim() : '';
  return `the receiver answered ${text === '' ? status : `${status}: ${text}`}`;
}

function isPage({ headers, body }: Answer): boolean {
  return body.length > 0 && /html/i.test(String(headers['content-type'] ?? ''));
}
