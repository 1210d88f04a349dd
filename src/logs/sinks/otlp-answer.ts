/** What an OTLP receiver's answer means for the records that it was sent. */
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import type { Dispatcher } from 'undici';
import { retryAfterMs } from '../../wire/retry-after.ts';
import { ALL_ACCEPTED, SinkBusy, type Acceptance } from './sink.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/**
 * The refusals that are about what was sent, and stay the same however often it is sent: malformed, too large
 * (both tried in pieces before), of an encoding it does not know (JSON was tried before), not to be processed.
 */
const REFUSED_CONTENT: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Of those, the ones that may be for one record among many, or for their number: half of them are asked for then, until
 * the bad one is alone, and only that one is dropped.
 */
export const MAYBE_ONE_RECORD: ReadonlySet<number> = new Set([400, 413, 422]);

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
  const { status } = answer;
  if (status >= 200 && status < 300) return partialAcceptance(answer, sent);
  const message = `the receiver answered ${said(answer)}`;
  if (REFUSED_CONTENT.has(status)) return { rejected: sent, message };
  const isTemporary = status >= 500 || status === 408 || status === 429;
  const advice = isTemporary ? undefined : 'check PILOTLIGHT_OTLP_ENDPOINT and PILOTLIGHT_OTLP_HEADERS';
  throw new SinkBusy(message, { retryAfterMs: retryAfterMs(answer.headers, Date.now()), advice });
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

function said({ status, headers, body }: Answer): string {
  const isText = /json|text/.test(String(headers['content-type'] ?? ''));
  const text = isText ? body.toString('utf8', 0, 200).trim() : '';
  return text === '' ? String(status) : `${status}: ${text}`;
}
