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

interface Asked extends TextPoll, Pick<Reading, 'isPassed'> {}

/** What slid out of the windows lately. Of a log that began anew, nothing did. */
export function pastAfter(
  { past = {}, progress }: GroupState,
  taken: readonly TakenByLevel[],
  now: number,
): Readonly<Record<string, Past>> {
  const changed = taken.map(([level, { stream, gap, passed }]) => {
    const before = past[level] ?? [];
    if (gap?.reason === 'reset') return [level, []];
    if (passed) return [level, withPassed(before, passed, now)];
    return [level, slidOut(before, (progress.streams[level] ?? EMPTY_STREAM).window, stream.window, now)];
  });
  return { ...past, ...Object.fromEntries(changed) };
}

/** @param widest The most that can be asked for, where this is not enough. */
export function readTexts(
  state: GroupState,
  { tail, now, texts, isPassed = false }: Asked,
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
    sinceMs: state.takenAt === undefined ? undefined : now - state.takenAt,
    // The rate is that of all levels, and each tells of its own share of what is lost.
    expected: expected === undefined ? undefined : expected / texts.length,
  };
  const taken: TakenByLevel[] = [];
  const held: (readonly [string, Stream])[] = [];
  for (const [level, text] of texts) {
    const reading: Reading = { ...common, text, past: state.past?.[level], isPassed };
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
