/**
 * One schedule: a real log, written in bursts and rests, shown by a service that does one or two things wrong, and
 * followed by the state machine, which dies now and then and goes on from what was stored. One seed gives one world.
 */
import { advance, beginGroup, firstPoll, type GroupProgress } from '../../../src/logs/tail/group.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import type { TailAnswer } from '../../../src/logs/tail/answer.ts';
import { LogService, type WrittenLine } from '../../support/log-service.ts';
import { readRealLog, REAL_LOGS, type RealLog } from '../../support/real-logs.ts';
import { Random } from '../random.ts';

export const FAULTS = [
  'stale',
  'merged',
  'byte-limited',
  'slow-ended',
  'joined',
  'restarted',
  // Polls fail as those for too much do, whatever they are for; then nothing says for certain what was too much.
  'flaky',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Schedule {
  readonly seed: number;
  readonly faults: readonly Fault[];
}

export interface Outcome {
  readonly schedule: Schedule;
  readonly log: RealLog;
  readonly records: readonly LogRecord[];
  readonly written: readonly WrittenLine[];
  /** Lines that stood whole in an answer which was read. */
  readonly shown: ReadonlySet<WrittenLine>;
  /** Lines that were being written when their log ended, and how many stood before them. */
  readonly unended: readonly { readonly text: string; readonly at: number }[];
  readonly epochs: number;
  /** Without faults after the end: what was asked last. */
  readonly trace: readonly string[];
}

const POLLS = 60;
/**
 * What a backend lags at most, ms: less than what makes a log a truncated one, and where answers are
 * short, less than what they reach.
 */
const MOST_LAG = 12_000;
const MOST_SHORT_LAG = 1_500;
const CUT: TailAnswer = { kind: 'error', reason: 'the connection was reset', tooLarge: 'perhaps' };
/** Answers that fail in a row, at most. */
const MOST_CUT = 8;
const BOOT = Array.from({ length: 8 }, (_, step) => `INFO starting, step ${step} of 8`);

export function play({ seed, faults }: Schedule): Outcome {
  const random = new Random(seed);
  const has = (fault: Fault) => faults.includes(fault);
  const name = random.pick<RealLog>(REAL_LOGS as readonly [RealLog, ...RealLog[]]);
  const lines = readRealLog(name).values();
  const isFaulty = { now: true };
  const mostLag = has('byte-limited') ? MOST_SHORT_LAG : MOST_LAG;
  const service = new LogService({
    endsLines: !has('joined'),
    cut: random.chance(0.3) ? 4 : 0,
    ...(has('byte-limited') && { byteLimit: random.between(12_000, 80_000) }),
    ...(has('stale') && {
      stale: () => (isFaulty.now && random.chance(0.3) ? random.between(0, mostLag) : 0),
    }),
    ...(has('merged') && { merged: () => (random.chance(0.05) ? random.between(0, 8_000) : 0) }),
  });

  let now = 1_700_000_000_000;
  let stored: GroupProgress | undefined;
  let state = beginGroup({ workergroupId: 7, start: 'all' });
  let next = firstPoll(state);
  const records: LogRecord[] = [];
  const shown = new Set<WrittenLine>();
  const skipped = new Set<WrittenLine>();
  const unended: { text: string; at: number }[] = [];
  const trace: string[] = [];
  let [rest, isOpen] = ['', false];
  let restartedAt = now;
  let toCut = 0;

  function writeFor(): void {
    if (isOpen) {
      const part = Math.ceil(rest.length * random.next());
      service.write(rest.slice(0, part));
      rest = rest.slice(part);
      if (rest !== '' || random.chance(0.5)) return;
      service.write('\n');
      isOpen = false;
    }
    const count = random.chance(0.3) ? 0 : Math.floor(random.between(1, 40));
    for (let index = 0; index < count; index++) service.writeLines([nextLine()]);
    if (has('slow-ended') && random.chance(0.3)) {
      const line = nextLine();
      service.write(line.slice(0, 5));
      [rest, isOpen] = [line.slice(5), true];
    }
  }
  function nextLine(): string {
    const { value } = lines.next();
    return typeof value === 'string' && value !== '' ? value : `line ${service.written.length} of the rest`;
  }

  function ask(tail: number): TailAnswer {
    if (!has('flaky')) return service.answer(tail);
    if (toCut === 0 && isFaulty.now && random.chance(0.1))
      toCut = Math.floor(random.between(1, MOST_CUT + 1));
    const answer = service.answer(tail);
    if (toCut === 0 && answer.kind !== 'error') return answer;
    toCut = Math.max(0, toCut - 1);
    service.shown = [];
    return CUT;
  }

  for (let poll = 0; poll < POLLS; poll++) {
    const isOver = poll > POLLS - 14;
    if (isOver) isFaulty.now = false;
    now += Math.ceil(Math.max(next.delayMs, isOver ? 10_000 : has('restarted') ? 3_000 : 0));
    service.now = now;
    if (isOver && isOpen) {
      service.write(`${rest}\n`);
      isOpen = false;
    }
    if (!isOver) writeFor();
    if (
      !isOver &&
      has('restarted') &&
      now - restartedAt > 70_000 &&
      records.length > 0 &&
      random.chance(0.08)
    ) {
      const partial = service.reset();
      if (partial !== '') unended.push({ text: partial, at: service.written.length });
      [rest, isOpen, restartedAt] = ['', false, now];
      if (random.chance(0.5)) service.writeLines(BOOT);
      service.writeLines(Array.from({ length: 3 }, nextLine));
    }
    do {
      const answer = ask(next.tail);
      const step = advance(state, { answer, tail: next.tail, now, roundTripMs: 20, random: 0.5 });
      // An answer that makes it ask again at once is not taken, and its lines are seen in the next one.
      if (step.next.delayMs > 0) {
        const [oldest] = service.shown;
        const skips = step.records.some((record) => 'gap' in record && record.gap.reason === 'overrun');
        // What an overrun skipped is counted, and not delivered when a wider answer shows it later.
        if (skips && oldest)
          for (const line of service.written.slice(0, service.written.indexOf(oldest))) skipped.add(line);
        // Of a log that was seen to have ended nothing is taken any more.
        const { epoch } = step.state.progress;
        for (const line of service.shown) if (!skipped.has(line) && line.epoch >= epoch) shown.add(line);
      }
      trace.push(
        `${poll} +${now - 1_700_000_000_000} tail ${next.tail} ${answer.kind} ${step.stale === true ? 'stale' : ''} records ${step.records.length} ${step.records.flatMap((one) => ('gap' in one ? [JSON.stringify(one.gap)] : [])).join(' ')}`,
      );
      records.push(...step.records);
      ({ state, next } = step);
      if (step.moved) stored = asStored(state.progress);
    } while (next.delayMs === 0);
    if (random.chance(0.05)) {
      state = beginGroup({ workergroupId: 7, start: 'all', progress: stored });
      next = { ...firstPoll(state), delayMs: 1_000 };
    }
  }
  return {
    schedule: { seed, faults },
    log: name,
    records,
    written: service.written,
    shown,
    unended,
    epochs: service.epoch,
    trace,
  };
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
