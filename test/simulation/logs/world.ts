/**
 * One schedule: a real log, written in bursts and rests, shown by a service that does one or two things wrong, and
 * followed by the state machine, which dies now and then and goes on from what was stored. One seed gives one world.
 */
import { advance, beginGroup, firstPoll, type GroupProgress } from '../../../src/logs/tail/group.ts';
import type { Gap, LogRecord } from '../../../src/logs/record.ts';
import type { LogService, WrittenLine } from '../../support/log-service.ts';
import type { RealLog } from '../../support/real-logs.ts';
import { Random } from '../random.ts';
import { BEGINNING, FaultyLog, type Fault, type UnendedLine } from './faulty-log.ts';

export interface Schedule {
  readonly seed: number;
  readonly faults: readonly Fault[];
}

export interface Outcome {
  readonly schedule: Schedule;
  readonly records: readonly LogRecord[];
  readonly written: readonly WrittenLine[];
  /** Lines that stood whole in an answer which was read. */
  readonly shown: ReadonlySet<WrittenLine>;
  /** Lines that were being written when their log ended. */
  readonly unended: readonly UnendedLine[];
  /**
   * Logs of which a line stood in an answer that had enough to be taken: no reader can know of another. Of a few lines,
   * with more above them, nobody can tell in which log they stood.
   */
  readonly epochs: number;
  /** Stretches of lines that stood in no answer, in front of some that did, in logs that have ended since. */
  readonly unseen: number;
  /**
   * A log began that goes on through all lines of the one before but one, in their order: had that one come late, and
   * the other one not, every answer would be the same letter for letter.
   */
  readonly isAlike: boolean;
}

/** And what a person who looks into one wants to see. */
export interface Played extends Outcome {
  readonly log: RealLog;
  /** What was asked, and what came. */
  readonly trace: readonly string[];
}

const POLLS = 60;
/** Lines of an answer: what a shorter one showed is asked for only where it is taken, and not more asked for at once. */
export const LEAST_SETTLED = 20;
/** Where a service cuts its answers short, one or two lines may be all that joins one answer to the next. */
const SKIPPING = ['overrun', 'ambiguous'] as const;
/** The last of them are without faults; there are more until one brings nothing new, and no more is asked for. */
const HONEST_POLLS = 14;

export function play({ seed, faults }: Schedule): Played {
  const random = new Random(seed);
  const log = new FaultyLog(faults, random);
  const { service } = log;
  let now = BEGINNING;
  let stored: GroupProgress | undefined;
  let state = beginGroup({ workergroupId: 7, start: 'all' });
  let next = firstPoll(state);
  const records: LogRecord[] = [];
  const shown = new Set<WrittenLine>();
  const skipped = new Set<WrittenLine>();
  /** By answers that are not taken yet, oldest first. */
  const seen: (readonly WrittenLine[])[] = [];
  const epochs = new Set<number>();
  const stood = new Set<WrittenLine>();
  const trace: string[] = [];

  let isAtRest = false;
  for (let poll = 0; poll < POLLS || (!isAtRest && poll < 2 * POLLS); poll++) {
    const isOver = poll > POLLS - HONEST_POLLS;
    now += Math.ceil(Math.max(next.delayMs, isOver ? 10_000 : log.has('restarted') ? 3_000 : 0));
    service.now = now;
    if (isOver) log.end();
    else {
      log.write();
      if (records.length > 0) log.mayRestart();
    }
    let isAtOnce = false;
    do {
      const answer = log.answer(next.tail);
      const step = advance(state, { answer, tail: next.tail, now, roundTripMs: 20, random: 0.5 });
      // Of a log that is seen for the first time there is only what the answer has that is taken.
      if (!state.begun) seen.length = 0;
      // A wider one that was asked for at once has what the one before it had, but for a view that lags.
      if (isAtOnce && hasAll(service.shown, seen.at(-1))) seen.pop();
      isAtOnce = step.next.delayMs === 0;
      const counted = isAtOnce && next.tail < LEAST_SETTLED ? [] : service.shown;
      for (const { epoch } of counted) epochs.add(epoch);
      for (const line of service.shown) stood.add(line);
      seen.push(counted);
      // What an overrun skipped is counted, and not delivered when a wider answer shows it later.
      for (const oldest of afterGaps(step.records, seen, log.has('byte-limited') ? SKIPPING : ['overrun']))
        for (const line of service.written.slice(0, service.written.indexOf(oldest))) skipped.add(line);
      if (!isAtOnce && step.state.progress.unsettled === undefined) {
        // Of a log that was seen to have ended nothing is taken any more.
        const { epoch } = step.state.progress;
        for (const line of seen.splice(0).flat())
          if (!skipped.has(line) && line.epoch >= epoch) shown.add(line);
      }
      isAtRest = answer.kind === 'text' && step.records.length === 0 && !step.state.progress.unsettled;
      trace.push(
        `${poll} +${now - BEGINNING} tail ${next.tail} ${answer.kind} ${step.stale === true ? 'stale' : ''} records ${step.records.length} ${step.records.flatMap((one) => ('gap' in one ? [JSON.stringify(one.gap)] : [])).join(' ')}`,
      );
      records.push(...step.records);
      ({ state, next } = step);
      if (step.moved) stored = asStored(state.progress);
    } while (isAtOnce);
    if (random.chance(0.05)) {
      state = beginGroup({ workergroupId: 7, start: 'all', progress: stored });
      next = { ...firstPoll(state), delayMs: 1_000 };
    }
  }
  for (const line of seen.flat()) if (line.epoch >= state.progress.epoch) shown.add(line);
  return {
    schedule: { seed, faults },
    log: log.name,
    records,
    written: service.written,
    shown,
    unended: log.unended,
    epochs: epochs.size,
    unseen: unseenStretches(service, stood),
    isAlike: hasAlike(service, stood),
    trace,
  };
}

export function unseenStretches({ written, epoch }: LogService, stood: ReadonlySet<WrittenLine>): number {
  return written.filter((line, index) => {
    const next = written[index + 1];
    return next?.epoch === line.epoch && line.epoch < epoch && !stood.has(line) && stood.has(next);
  }).length;
}

/** Of a log of few lines, what it was seen to have stands in the next one but for a single line. */
export function hasAlike({ written, epoch: last }: LogService, stood: ReadonlySet<WrittenLine>): boolean {
  for (let epoch = 1; epoch < last; epoch++) {
    const before = written.filter((line) => line.epoch === epoch && stood.has(line));
    const after = written.filter((line) => line.epoch === epoch + 1);
    if (before.some((_, left) => isWithin(before.toSpliced(left, 1), after))) return true;
  }
  return false;
}

function isWithin(lines: readonly WrittenLine[], others: readonly WrittenLine[]): boolean {
  let next = 0;
  for (const { text } of others) if (text === lines[next]?.text) next += 1;
  return next === lines.length;
}

function hasAll(shown: readonly WrittenLine[], others: readonly WrittenLine[] = []): boolean {
  const all = new Set(shown);
  return others.every((line) => all.has(line));
}

/**
 * The oldest line of each answer that was taken behind such a gap. It is known by what was delivered of it, and of what
 * continued it; the last line may be a part of one.
 */
function afterGaps(
  records: readonly LogRecord[],
  seen: readonly (readonly WrittenLine[])[],
  reasons: readonly Gap['reason'][],
): readonly WrittenLine[] {
  const isSkip = (record: LogRecord) => 'gap' in record && reasons.includes(record.gap.reason);
  return records.flatMap((record, at) => {
    if (!isSkip(record)) return [];
    const next = records.findIndex((other, index) => index > at && isSkip(other));
    const lines = records
      .slice(at + 1, next < 0 ? undefined : next)
      .flatMap((one) => ('line' in one ? [one.line] : []));
    const block = lines.slice(0, -1);
    // The first line of an answer, which may be cut, is delivered where another answer has shown that it is not.
    const taken = seen.find((answer) =>
      [-1, ...answer.keys()].some(
        (from) =>
          from < answer.length - 1 &&
          block.every((line, index) => [line, undefined].includes(answer[from + index]?.text)),
      ),
    );
    return (taken ?? seen.at(-1) ?? []).slice(0, 1);
  });
}

/** As a spool keeps it: JSON, but for the windows. */
function asStored({ streams, ...rest }: GroupProgress): GroupProgress {
  return {
    ...(JSON.parse(JSON.stringify(rest)) as Omit<GroupProgress, 'streams'>),
    streams: Object.fromEntries(
      Object.entries(streams).map(([level, { window, ...stream }]) => [
        level,
        { ...(JSON.parse(JSON.stringify(stream)) as typeof stream), window },
      ]),
    ),
  };
}
