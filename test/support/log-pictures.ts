/**
 * What a follower makes of answers, as a picture. Each row is an answer and what is delivered of it:
 *
 *     whole a b c    → a b c
 *     +3 full b c d  → d
 *
 * `whole`: the log has no more. `full`: as much as was asked for, so there may be more above. A word is a line; one with
 * `…` at its end is still being written. In front stands how many seconds pass; without it, as many as the follower waits.
 * Of what is delivered, a gap is `(reason estimate)`, `more` is a question for more at once, `held` an older view, `-`
 * nothing, and `…` in front of a word the rest of a line that was delivered in part.
 */
import { expect } from 'vitest';
import type { LogRecord } from '../../src/logs/record.ts';
import {
  advance,
  beginGroup,
  type Beginning,
  type GroupState,
  type NextPoll,
  type Step,
} from '../../src/logs/follower/group.ts';

const ROW = /^(?:\+(?<seconds>[\d.]+) )?(?<extent>whole|full) ?(?<view>.*?)\s*→\s*(?<told>.*)$/;
/** Of a question that has more room than the log has lines. */
const ROOM = 100_000;

export class Pictured {
  state: GroupState;
  next: NextPoll = { tail: ROOM, delayMs: 1_000 };
  now = 1_700_000_000_000;
  readonly records: LogRecord[] = [];

  constructor(beginning: Partial<Beginning> = {}) {
    this.state = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all', ...beginning });
  }

  answer(text: string, tail = ROOM, waitMs = this.next.delayMs): Step {
    this.now += waitMs;
    if (this.state.isProbing) this.#advance(lastLines(text, this.next.tail), this.next.tail);
    return this.#advance(text, tail);
  }

  #advance(text: string, tail: number): Step {
    const answered = { answer: { kind: 'text', text }, tail, now: this.now } as const;
    const step = advance(this.state, { ...answered, roundTripMs: 20, random: 0.5 });
    ({ state: this.state, next: this.next } = step);
    this.records.push(...step.records);
    return step;
  }

  /** @returns The row as it came out: equal to what was given, if all is as it says. */
  see(row: string): string {
    const { seconds, extent = '', view = '' } = ROW.exec(row)?.groups ?? {};
    if (extent === '') throw new Error(`not a row of a picture: ${row}`);
    const words = view === '' ? [] : view.split(' ');
    const text = words.map((word) => (word.endsWith('…') ? word.slice(0, -1) : `${word}\n`)).join('');
    const tail = extent === 'full' ? text.split('\n').length : ROOM;
    const step = this.answer(text, tail, seconds === undefined ? undefined : 1_000 * Number(seconds));
    return `${row.slice(0, row.indexOf('→')).trimEnd()} → ${told(step, tail)}`;
  }
}

function lastLines(text: string, count: number): string {
  return text
    .split('\n')
    .slice(-count - 1)
    .join('\n');
}

function told({ records, stale, next }: Step, tail: number): string {
  if (records.length === 0 && next.delayMs === 0 && next.tail > tail) return 'more';
  if (records.length === 0) return stale === true ? 'held' : '-';
  return records
    .map((record) => {
      if ('gap' in record) return `(${record.gap.reason} ${record.gap.lost_estimate ?? '?'})`;
      return `${record.continues === true ? '…' : ''}${record.line}`;
    })
    .join(' ');
}

export function expectPicture(picture: string, pictured = new Pictured()): Pictured {
  const rows = picture
    .split('\n')
    .map((row) => row.trim().replaceAll(/ +/g, ' '))
    .filter((row) => row !== '');
  expect(rows.map((row) => pictured.see(row))).toEqual(rows);
  return pictured;
}
