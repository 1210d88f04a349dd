/** Counts what came of one log, as events and as a view. */
import type { TailAnswer } from '../answer.ts';
import type { LogEvent } from '../events.ts';
import type { GroupState, NextPoll, Step } from '../follower/group.ts';
import { meanRate, type TailUnit } from '../follower/pace.ts';
import type { GapReason } from '../record.ts';
import type { LogSource } from '../source.ts';
import { standalone } from '../text.ts';

const LAST_LINES = 20;

export interface LogView {
  readonly source: LogSource;
  /** starting: no answer yet. failing: the last poll failed. */
  readonly state: 'starting' | 'following' | 'failing';
  readonly error?: string;
  readonly epoch: number;
  readonly seq: number;
  /** Mean of about the last minute. */
  readonly linesPerSecond: number;
  /** Since this process started. */
  readonly lines: number;
  /** In UTF-8, without line ends. */
  readonly bytes: number;
  readonly gaps: Readonly<Record<GapReason, number>>;
  /** Of the gaps for which it is known. */
  readonly lostEstimate: number;
  readonly unknownGaps: number;
  readonly staleAnswers: number;
  /** Unix milliseconds. */
  readonly lastLineAt?: number;
  /** Oldest first. */
  readonly lastLines: readonly string[];
  /** What to ask for next, in the unit of the service. */
  readonly tail: number;
  /** Undefined until it is learned. */
  readonly tailUnit?: TailUnit;
  /** From poll to poll, ms, with the wait for a turn under the rate limit. */
  readonly intervalMs: number;
}

export class GroupStats {
  readonly #gaps: Record<GapReason, number> = { overrun: 0, reset: 0, ambiguous: 0, handover: 0 };
  #lines = 0;
  #bytes = 0;
  #lostEstimate = 0;
  #unknownGaps = 0;
  #staleAnswers = 0;
  #roundTripMs = 0;
  #lastLines: readonly string[] = [];
  #lastLineAt?: number;
  #error?: string;
  /** In a row. */
  #failures = 0;

  /** @param now Unix milliseconds at which the answer came. */
  count(
    { state, records, stale, isNotReady, next }: Step,
    answer: TailAnswer,
    now: number,
    roundTripMs: number,
  ): LogEvent[] {
    const { source, failures } = state;
    if (isNotReady === true) return [];
    if (answer.kind === 'error') {
      this.#error = answer.reason;
      this.#failures = failures;
      const { delayMs: retryInMs } = next;
      return [{ kind: 'poll failed', source, reason: answer.reason, failures, retryInMs }];
    }
    this.#roundTripMs = roundTripMs;
    const failed = this.#failures;
    this.#failures = 0;
    if (stale === true) this.#staleAnswers += 1;
    const gaps = records.flatMap((record) => ('gap' in record ? [record.gap] : []));
    const lines = records.flatMap((record) => ('gap' in record ? [] : [record.line]));
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    for (const { reason, lost_estimate } of gaps) {
      this.#gaps[reason] += 1;
      // Lines of a handover wait with the replica that took them.
      this.#lostEstimate += reason === 'handover' ? 0 : (lost_estimate ?? 0);
      if (lost_estimate === null) this.#unknownGaps += 1;
    }
    if (lines.length > 0) {
      this.#lines += lines.length;
      this.#lastLines = [...this.#lastLines, ...lines.slice(-LAST_LINES).map(standalone)].slice(-LAST_LINES);
      this.#lastLineAt = now;
    }
    this.#bytes += bytes;
    return [
      { kind: 'polled', source, tail: next.tail, intervalMs: next.delayMs, roundTripMs },
      ...(failed > 0 ? [{ kind: 'poll recovered' as const, source, failures: failed }] : []),
      ...(stale === true ? [{ kind: 'stale answer' as const, source }] : []),
      ...gaps.map(({ reason, lost_min: lostMin, lost_estimate: lostEstimate }): LogEvent => ({
        kind: 'gap',
        source,
        reason,
        lostMin,
        lostEstimate,
      })),
      ...(lines.length > 0 ? [{ kind: 'lines' as const, source, lines: lines.length, bytes, at: now }] : []),
    ];
  }

  view({ source, begun, failures, progress, pace }: GroupState, next: NextPoll): LogView {
    const failing = failures > 0;
    return {
      source,
      state: failing ? 'failing' : begun ? 'following' : 'starting',
      ...(failing && this.#error !== undefined && { error: this.#error }),
      epoch: progress.epoch,
      seq: progress.seq,
      linesPerSecond: meanRate(pace) ?? 0,
      lines: this.#lines,
      bytes: this.#bytes,
      gaps: { ...this.#gaps },
      lostEstimate: this.#lostEstimate,
      unknownGaps: this.#unknownGaps,
      staleAnswers: this.#staleAnswers,
      ...(this.#lastLineAt !== undefined && { lastLineAt: this.#lastLineAt }),
      lastLines: this.#lastLines,
      tail: next.tail,
      ...(progress.unit !== undefined && { tailUnit: progress.unit }),
      intervalMs: next.delayMs + this.#roundTripMs,
    };
  }
}
