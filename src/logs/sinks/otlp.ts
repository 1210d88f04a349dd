/**
 * Records to an OpenTelemetry receiver over OTLP/HTTP (Collector, Alloy, Loki, most vendors): gzipped batches, each
 * acknowledged by the receiver's answer alone.
 *
 * Not the official exporter: it logs a partial success and reports it as a success, so that what was rejected is
 * counted nowhere, and it retries by itself for as long as its own timeout, without telling a Retry-After that is
 * longer. Its serializer and its reader of answers are used; the spool's pump does the waiting.
 */
import type { Batch } from '../spool/batch.ts';
import type { LogRecord } from '../record.ts';
import { acceptanceOf, busy, isRefusal, messageOf, type Answer } from './otlp-answer.ts';
import { otlpPoster } from './otlp-poster.ts';
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

interface Underway {
  readonly records: readonly LogRecord[];
  /** How many of them were asked about, up to the last that was taken or refused alone. */
  readonly done: number;
  /** Those of them that were refused alone: bad, or the receiver is none. */
  readonly suspects: readonly LogRecord[];
  readonly acceptance: Acceptance;
}

const TIMEOUT_MS = 30_000;
/** A receiver that was too slow for a request is asked for so much more after each that it takes in time. */
const CEILING_GROWTH = 1.02;
/** Records that are refused one by one, with nothing taken between, until the receiver is left alone for a while. */
const MOST_REFUSALS = 16;

export function otlpSink(options: OtlpSinkOptions): Sink {
  const { endpoint, headers, timeoutMs = TIMEOUT_MS, now = Date.now } = options;
  const poster = otlpPoster({ endpoint, headers, timeoutMs, times: new StreamTimes(now) });

  /** What came of the batch so far, where it goes in pieces: the pump gives it again as a whole. */
  let underway: Underway = begin([]);
  /** Records that the next request may have, and that any may: a receiver that is too slow for more takes these. */
  let limit = Infinity;
  let ceiling = Infinity;
  /** The receiver has taken something since the batch was given to this sink, this time. */
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
        underway = settled(underway, acceptanceOf(answer, piece.length), { done: done + piece.length });
        // After one that was bad the next may be too: only what is taken says that more can be.
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
   * The receiver may be another by now, or right at last, so what was refused is asked about once more before it counts
   * as bad; and it does only where something else is taken.
   *
   * @returns The refusal, where nothing else was taken: then all of them stay suspects.
   */
  async function askAgain(signal: AbortSignal): Promise<Answer | undefined> {
    for (let size = 1; underway.suspects.length > 0;) {
      const piece = underway.suspects.slice(0, size);
      const rest = underway.suspects.slice(size);
      const answer = await postInTime(piece, signal);
      if (!isRefusal(answer)) {
        underway = settled(underway, acceptanceOf(answer, piece.length), { suspects: rest });
        isTaking = true;
        size *= 2;
      } else if (piece.length > 1) {
        size = 1;
      } else if (isTaking) {
        underway = settled(underway, { rejected: 1, message: messageOf(answer) }, { suspects: rest });
      } else {
        return answer;
      }
    }
    return undefined;
  }

  /**
   * A batch of few records, each of them refused: nothing else can say whether it is they or the address, and one bad
   * line must not hold up all that follow. A receiver of logs takes a request without any (OTLP/HTTP: "SHOULD respond
   * with success"), and what is none does not. Where there are many it is the receiver, whatever that says.
   */
  async function takesNothing(signal: AbortSignal): Promise<boolean> {
    if (underway.suspects.length > MOST_REFUSALS) return false;
    const answer = await postInTime([], signal);
    if (isRefusal(answer)) return false;
    acceptanceOf(answer, 0);
    return true;
  }

  /** A request that takes too long may never be answered in time, so the next one is half as large. */
  async function postInTime(piece: readonly LogRecord[], signal: AbortSignal): Promise<Answer> {
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

function settled(before: Underway, more: Acceptance, change: Partial<Underway>): Underway {
  const rejected = before.acceptance.rejected + more.rejected;
  return { ...before, ...change, acceptance: { ...before.acceptance, ...more, rejected } };
}
