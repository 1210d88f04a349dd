/**
 * Records to an OpenTelemetry receiver over OTLP/HTTP (Collector, Alloy, Loki, most vendors): gzipped batches, each
 * acknowledged by the receiver's answer.
 *
 * Not the official exporter: it reports a partial success as a success, so rejected records are counted nowhere, and it
 * hides a Retry-After that is longer than its own timeout. Its serializer and its reader of answers are used.
 */
import type { Batch } from '../spool/batch.ts';
import type { LogRecord } from '../record.ts';
import { acceptanceOf, busy, isRefusal, messageOf, type ReceiverAnswer } from './otlp-answer.ts';
import { otlpPoster } from './otlp-poster.ts';
import { StreamTimes } from './otlp-records.ts';
import { ALL_ACCEPTED, type Acceptance, type Sink } from './sink.ts';

export interface OtlpSinkOptions {
  /** Base address, or the whole one with `/v1/logs`. */
  readonly endpoint: string;
  /** Names in lower case. A token may be among them: they are shown nowhere. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of one request, ms. */
  readonly timeoutMs?: number;
  /** Unix ms. */
  readonly now?: () => number;
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
  const { endpoint, headers, timeoutMs = TIMEOUT_MS, now = Date.now } = options;
  const poster = otlpPoster({ endpoint, headers, timeoutMs, times: new StreamTimes(now) });

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
      if (isTimeout && !signal.aborted) ceiling = Math.max(1, piece.length >> 1);
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
