/** Drives the pure group state machine against a log service, poll by poll, in virtual time. */
import {
  advance,
  beginGroup,
  firstPoll,
  type Beginning,
  type GroupProgress,
  type GroupState,
  type NextPoll,
} from '../../src/logs/follower/group.ts';
import type { TailAnswer } from '../../src/logs/answer.ts';
import type { Gap, LogRecord } from '../../src/logs/record.ts';

export class LogPolls {
  state: GroupState;
  next: NextPoll;
  now = 1_700_000_000_000;
  polls = 0;
  stored: GroupProgress | undefined;
  readonly records: LogRecord[] = [];

  constructor(beginning: Partial<Beginning> = {}) {
    this.state = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all', ...beginning });
    this.next = firstPoll(this.state);
    this.stored = beginning.progress;
  }

  /** Polls once after `waitMs`, and again while the follower asks to at once. */
  poll(answer: (tail: number) => TailAnswer, waitMs = this.next.delayMs): readonly LogRecord[] {
    this.now += waitMs;
    const before = this.records.length;
    do {
      const step = advance(this.state, {
        answer: answer(this.next.tail),
        tail: this.next.tail,
        now: this.now,
        roundTripMs: 20,
        random: 0.5,
      });
      this.polls += 1;
      this.state = step.state;
      this.next = step.next;
      if (step.moved) this.stored = step.state.progress;
      this.records.push(...step.records);
    } while (this.next.delayMs === 0);
    return this.records.slice(before);
  }

  get lines(): readonly string[] {
    return linesOf(this.records);
  }

  get gaps(): readonly Gap[] {
    return gapsOf(this.records);
  }
}

export function linesOf(records: readonly LogRecord[]): readonly string[] {
  return records.flatMap((record) => ('line' in record ? [record.line] : []));
}

export function gapsOf(records: readonly LogRecord[]): readonly Gap[] {
  return records.flatMap((record) => ('gap' in record ? [record.gap] : []));
}

/**
 * Three polls of a log, in the last of which lines stand between known ones: one in what was packed away, one in what
 * is not. The window has new places from there on, and its blocks too.
 *
 * @param store Called after each poll.
 */
export function mergedView(store: (records: readonly LogRecord[], progress: GroupProgress) => void) {
  const polls = new LogPolls();
  const text = (lines: readonly string[]): TailAnswer => ({
    kind: 'text',
    text: lines.map((line) => `${line}\n`).join(''),
  });
  const lines = Array.from({ length: 2_100 }, (_, index) => `line ${index}`);
  const late = lines.toSpliced(-3, 0, 'late').toSpliced(1_500, 0, 'later');
  for (const seen of [lines.slice(0, 2_000), lines, late])
    store(
      polls.poll(() => text(seen)),
      polls.state.progress,
    );
  return { polls, late, text };
}
