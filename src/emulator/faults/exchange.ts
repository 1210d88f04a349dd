import { STATUS_CODES, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorCode } from '../../contract/errors.ts';
import { textAnswer, throttledAnswer, TOO_FREQUENT, type Answer } from '../answers/answer.ts';
import type { Random } from '../random.ts';
import type { DecisiveFault, FaultRecord, LatencyFault, Strikes } from './faults.ts';

interface ExchangeParts {
  readonly raw: ServerResponse;
  readonly random: Random;
  readonly closing: AbortSignal;
  perform(): Answer;
  refuse(code: ErrorCode, message: string): Answer;
  send(answer: Answer): void;
  lifted(faultId: string): Promise<void>;
}

/** Returns the sent status; null if the connection ended without a whole answer. */
export async function exchangeWithFaults(
  { latencies, decisive }: Strikes,
  parts: ExchangeParts,
): Promise<number | null> {
  await wait(latencies, 'request', parts);
  const answer = decisive ? await decide(decisive, parts) : parts.perform();
  await wait(latencies, 'response', parts);
  if (answer === null || parts.raw.destroyed) return null;
  if (decisive?.fault.kind === 'reset') {
    parts.raw.socket?.resetAndDestroy();
    return null;
  }
  if (decisive?.fault.kind === 'truncated' && decisive.fault.connection === 'cut')
    return sendHalf(answer, parts.raw);
  parts.send(answer);
  return answer.status;
}

/** Returns null if the client has gone. */
async function decide(
  { id, fault }: FaultRecord<DecisiveFault>,
  parts: ExchangeParts,
): Promise<Answer | null> {
  const made = 'takesEffect' in fault && fault.takesEffect ? parts.perform() : undefined;
  switch (fault.kind) {
    case 'throttled':
      return throttled(fault, parts);
    case 'status':
      return statusAnswer(fault.status, parts);
    case 'truncated': {
      const whole = parts.perform();
      const half = whole.text.slice(0, Math.floor(whole.text.length / 2));
      return fault.connection === 'cut' ? whole : { ...whole, text: half };
    }
    case 'empty':
    case 'reset':
      return textAnswer(200, 'application/json', '');
    case 'html':
      return textAnswer(200, 'text/html; charset=utf-8', INTERSTITIAL);
    case 'hang':
      await parts.lifted(id);
      if (parts.raw.destroyed || parts.closing.aborted) return null;
      return made ?? parts.perform();
    default:
      return fault satisfies never;
  }
}

async function wait(
  latencies: readonly FaultRecord<LatencyFault>[],
  side: LatencyFault['side'],
  { random, closing }: ExchangeParts,
): Promise<void> {
  const total = latencies
    .filter(({ fault }) => fault.side === side)
    .reduce((sum, { fault }) => sum + fault.ms + random() * fault.jitterMs, 0);
  if (total > 0) await delay(total, undefined, { signal: closing });
}

function throttled(fault: Extract<DecisiveFault, { kind: 'throttled' }>, parts: ExchangeParts): Answer {
  const { shape } = fault;
  const answer =
    shape === 'error' ? parts.refuse('rate_limited', TOO_FREQUENT) : throttledAnswer(shape, fault);
  if (fault.retryAfterSeconds === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(fault.retryAfterSeconds) } };
}

function statusAnswer(status: number, parts: ExchangeParts): Answer {
  if (status === 500) return parts.refuse('internal_error', 'Internal server error');
  const title = `${status} ${STATUS_CODES[status]}`;
  return textAnswer(status, 'text/html', page(title, `<center><h1>${title}</h1></center><hr>`));
}

function page(title: string, body: string): string {
  return `<!DOCTYPE html>\r\n<html>\r\n<head><title>${title}</title></head>\r\n<body>${body}</body>\r\n</html>\r\n`;
}

/** A captive portal or bot check answers with status 200. */
const INTERSTITIAL = page('Just a moment...', '<p>Checking your browser before you proceed.</p>');

/** Announces the whole body, then cuts the connection in the middle. */
function sendHalf(answer: Answer, raw: ServerResponse): null {
  const body = Buffer.from(answer.text);
  raw.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': body.length,
    ...answer.headers,
  });
  raw.write(body.subarray(0, Math.floor(body.length / 2)), () => raw.destroy());
  return null;
}
