/** Drives the pure group state machine against a log service, poll by poll, in virtual time. */
import {
  advance,
  beginGroup,
  firstPoll,
  type Beginning,
  type GroupState,
  type NextPoll,
} from '../../src/logs/tail/group.ts';
import type { TailAnswer } from '../../src/logs/tail/answer.ts';
import type { Gap, LogRecord } from '../../src/logs/record.ts';

export class LogPolls {
  state: GroupState;
  next: NextPoll;
  now = 1_700_000_000_000;
  polls = 0;
  readonly records: LogRecord[] = [];

  constructor(beginning: Partial<Beginning> = {}) {
    this.state = beginGroup({ workergroupId: 7, start: 'all', ...beginning });
    this.next = firstPoll(this.state);
  }

  /**
   * Polls once, after the time that the last step asked
   * for or `waitMs`, and again while it asks to at once.
   */
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
