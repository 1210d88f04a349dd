/** What is taken of one answer, level by level. */
import type { TakenByLevel } from '../numbering.ts';
import { EMPTY_STREAM, type Insufficient, type Reading, type Stream } from '../stream.ts';
import { beginStream, takeTail } from '../take-tail.ts';
import { slidOut, withPassed, type Past } from '../view/past.ts';
import { widerTail } from './answer-size.ts';
import type { GroupState, TextPoll } from './group-state.ts';
import { expectedLines } from './pacing.ts';

export interface Readings {
  readonly kind: 'read';
  readonly taken: readonly TakenByLevel[];
  /** Levels of which this was an older view. */
  readonly held: readonly (readonly [level: string, stream: Stream])[];
}

/** What slid out of the windows lately. Of a log that began anew, nothing did. */
export function pastAfter(
  { past = {}, progress }: GroupState,
  taken: readonly TakenByLevel[],
  now: number,
): Readonly<Record<string, Past>> {
  const changed = taken.map(([level, { stream, gap }]) => {
    const { window: before } = progress.streams[level] ?? EMPTY_STREAM;
    return [level, gap?.reason === 'reset' ? [] : slidOut(past[level] ?? [], before, stream.window, now)];
  });
  return { ...past, ...Object.fromEntries(changed) };
}

/**
 * Of an answer that came before the last one that was taken, and is joined to nothing: its lines are delivered, and the
 * log goes on from where it was.
 */
export function passed(
  state: GroupState,
  { taken, held }: Readings,
  now: number,
): { readonly state: GroupState; readonly readings: Readings } {
  const past = { ...state.past };
  const kept = taken.map(([level, one]): TakenByLevel => {
    const stream = state.progress.streams[level];
    if (one.gap?.reason !== 'overrun' || stream === undefined) return [level, one];
    past[level] = withPassed(past[level] ?? [], one.stream.window.hashes, now);
    const { parting: _, ...rest } = one;
    return [level, { ...rest, stream }];
  });
  return { state: { ...state, past }, readings: { kind: 'read', taken: kept, held } };
}

/** @param widest The most that can be asked for, where this is not enough. */
export function readTexts(
  state: GroupState,
  { tail, now, texts }: TextPoll,
  widest = widerTail(state, now),
): Readings | Insufficient {
  const { progress, pace, begun } = state;
  const expected = expectedLines(state, now);
  const common = {
    tail,
    widest,
    ceiling: progress.ceiling,
    now,
    intervalMs: pace.intervalMs,
    // The rate is that of all levels, and each tells of its own share of what is lost.
    expected: expected === undefined ? undefined : expected / texts.length,
  };
  const taken: TakenByLevel[] = [];
  const held: (readonly [string, Stream])[] = [];
  for (const [level, text] of texts) {
    const reading: Reading = { ...common, text, past: state.past?.[level] };
    const outcome = begun
      ? takeTail(progress.streams[level] ?? EMPTY_STREAM, reading)
      : // What is too large for sure is not asked for a second time before anything is taken.
        beginStream(
          { ...reading, widest: progress.sizeLimit?.isSure ? tail : widest },
          state.start === 'all',
        );
    if (outcome.kind === 'insufficient') return outcome;
    if (outcome.kind === 'held') held.push([level, outcome.stream]);
    else taken.push([level, outcome]);
  }
  return { kind: 'read', taken, held };
}
