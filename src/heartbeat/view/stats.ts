/** What is kept of one deployment's past: counts since the start, and the last few beats. */

import { FAILURE_LABELS, type FailureLabel } from '../engine/outcome.ts';
import type { Notice } from '../engine/state.ts';

const TIMELINE_LENGTH = 20;

export interface BeatRecord {
  readonly attempt: number;
  /** When it left, Unix ms. */
  readonly at: number;
  readonly hedge: boolean;
  readonly result: 'waiting' | 'overdue' | 'accepted' | 'superseded' | FailureLabel;
  /** How long it took, ms; absent while it is under way. */
  readonly tookMs?: number;
}

export interface Stats {
  readonly failures: Record<FailureLabel, number>;
  attempts: number;
  lapses: number;
  lastSuccessAt: number | undefined;
  /** The closest approach to expiry so far, as a part of the TTL; below 0 after a lapse. */
  minMarginRatio: number | undefined;
  timeline: readonly BeatRecord[];
  /** Why the last attempt failed that failed, if more is known than its label. */
  lastFailure: Failure | undefined;
}

export interface Failure {
  readonly attempt: number;
  /** In words, with the address. */
  readonly why: string;
}

export function emptyStats(): Stats {
  return {
    failures: Object.fromEntries(FAILURE_LABELS.map((label) => [label, 0])) as Record<FailureLabel, number>,
    attempts: 0,
    lapses: 0,
    lastSuccessAt: undefined,
    minMarginRatio: undefined,
    timeline: [],
    lastFailure: undefined,
  };
}

/** Counts a notice. `wall` is now, Unix ms. */
export function enter(stats: Stats, notice: Notice, wall: number): void {
  switch (notice.type) {
    case 'sent':
      stats.attempts += 1;
      stats.timeline = [
        ...stats.timeline.slice(1 - TIMELINE_LENGTH),
        { attempt: notice.attempt, at: wall, hedge: notice.hedge, result: 'waiting' },
      ];
      return;
    case 'accepted':
      stats.lastSuccessAt = wall;
      if (notice.marginRatio !== undefined) {
        stats.minMarginRatio = Math.min(notice.marginRatio, stats.minMarginRatio ?? Infinity);
      }
      return mark(stats, notice.attempt, { result: 'accepted', tookMs: notice.latencyMs });
    case 'overdue':
      return mark(stats, notice.attempt, { result: 'overdue' });
    case 'failed':
      stats.failures[notice.reason] += 1;
      stats.lastFailure = notice.why === undefined ? undefined : { attempt: notice.attempt, why: notice.why };
      return mark(stats, notice.attempt, { result: notice.reason }, wall);
    case 'superseded':
      return mark(stats, notice.attempt, { result: 'superseded' }, wall);
    case 'state':
      if (notice.to === 'lapsed') stats.lapses += 1;
      return;
    case 'wait-cut-short':
    case 'clock-step':
      return;
  }
}

function mark(
  stats: Stats,
  attempt: number,
  end: Pick<BeatRecord, 'result'> & Partial<BeatRecord>,
  wall?: number,
): void {
  stats.timeline = stats.timeline.map((record) => {
    if (record.attempt !== attempt) return record;
    return { ...record, ...end, ...(wall !== undefined && { tookMs: Math.max(0, wall - record.at) }) };
  });
}
