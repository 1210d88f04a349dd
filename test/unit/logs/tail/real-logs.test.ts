/** What following promises, on real lines: three systems' logs, and one of them without its times, so that it repeats. */
import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { candidates } from '../../../../src/logs/tail/align.ts';
import { MemorySpool } from '../../../../src/logs/spool/memory-spool.ts';
import { keptLine } from '../../../../src/logs/tail/kept-line.ts';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import { PLAIN } from '../../../../src/logs/tail/numbering.ts';
import { startLogPipeline } from '../../../../src/logs/follow/pipeline.ts';
import { reserve } from '../../../../src/logs/tail/rate.ts';
import { EMPTY_WINDOW, windowLines } from '../../../../src/logs/tail/window.ts';
import { bruteForceCandidates } from '../../../support/log-alignment.ts';
import { gapsOf, linesOf, LogPolls } from '../../../support/log-polls.ts';
import { windowOf } from '../../../support/log-records.ts';
import { LogService, type LogServiceOptions } from '../../../support/log-service.ts';
import { CollectingSink } from '../../../support/log-sinks.ts';
import { VirtualClock } from '../../../support/log-time.ts';
import { describeWithRealData } from '../../../support/real-data.ts';
import { readRealLog, REAL_LOGS, type RealLog } from '../../../support/real-logs.ts';

/** Lines that the service gives at most, where it does not hold the whole log. */
const GIVES = 250;
const RUNS = { numRuns: 4 };

const service = fc.record<LogServiceOptions>({ endsLines: fc.boolean(), cut: fc.nat(6) });
const bursts = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 12 });

/** A log is followed to its end in so many polls at most: chance may choose bursts of one line, or of one character. */
const MOST_POLLS = 300;

function meanOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
}

/** As much of the log as such bursts write in MOST_POLLS. */
function stretchFor(
  lines: readonly string[],
  ...schedules: readonly (readonly number[])[]
): readonly string[] {
  return lines.slice(0, Math.ceil(MOST_POLLS * Math.min(...schedules.map(meanOf))));
}

/** The log in pieces: the next ones of those sizes, and then from the first size again. */
function* inBursts(lines: readonly string[], sizes: readonly number[]): Generator<readonly string[]> {
  for (let at = 0, turn = 0; at < lines.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield lines.slice(at, at + size);
    at += size;
  }
}

function ask(log: LogService, polls: LogPolls, waitMs?: number) {
  return polls.poll((tail) => log.answer(tail), waitMs);
}

/** Everything that is taken of a log that is written in such bursts, also of its last line if that has no end. */
function followed(lines: readonly string[], sizes: readonly number[], options: LogServiceOptions): LogPolls {
  const [log, polls] = [new LogService(options), new LogPolls()];
  for (const burst of inBursts(lines, sizes)) {
    log.writeLines(burst);
    ask(log, polls);
  }
  for (let poll = 0; poll < 4; poll++) ask(log, polls, 5_000);
  return polls;
}

describeWithRealData('real logs', () => describe.each(REAL_LOGS)('%s', suite));

function suite(name: RealLog): void {
  const lines = readRealLog(name);
  const repeats = name === 'OpenSSH without times';

  test('candidates are those that a brute-force search finds', () => {
    const place = fc.nat(lines.length - 1);
    const size = fc.integer({ min: 1, max: 300 });
    fc.assert(
      fc.property(place, size, place, size, fc.nat(6), (from, taken, tailFrom, given, cut) => {
        const window = lines.slice(from, from + taken);
        // Every other time a tail of what was taken, else of any place.
        const start = given % 2 === 0 ? tailFrom : Math.max(0, from + taken - (given >> 1));
        const tail = lines.slice(start, start + given);
        tail[0] = tail[0]?.slice(cut) ?? '';
        expect(candidates(windowOf(window), hashed(tail))).toEqual(bruteForceCandidates(window, tail));
      }),
      { numRuns: 60 },
    );
  });

  test('the window ends with the tail after every aligned poll', () => {
    fc.assert(
      fc.property(bursts, (sizes) => {
        const [log, polls] = [new LogService({ gives: GIVES }), new LogPolls()];
        for (const burst of inBursts(stretchFor(lines, sizes), sizes)) {
          log.writeLines(burst);
          ask(log, polls);
          const window = windowLines(polls.state.progress.streams[PLAIN]?.window ?? EMPTY_WINDOW);
          const tail = log
            .tail(GIVES)
            .split('\n')
            .slice(1, -1)
            .map((line) => keptLine(line));
          const overlap = Math.min(tail.length, window.length);
          expect(window.slice(window.length - overlap)).toEqual(tail.slice(tail.length - overlap));
        }
      }),
      RUNS,
    );
  });

  test('every line once, as long as what is new leaves room for an overlap that is unique', () => {
    fc.assert(
      fc.property(service, bursts, (options, sizes) => {
        const stretch = stretchFor(lines, sizes);
        const whole = followed(stretch, sizes, options);
        expect([whole.lines, whole.gaps]).toEqual([stretch, []]);

        const few = sizes.map((size) => Math.min(size, GIVES - reserve(GIVES)));
        const part = followed(stretch, few, { ...options, gives: GIVES });
        if (!repeats) expect(part.gaps).toEqual([]);
        if (part.gaps.length === 0) expect(part.lines).toEqual(stretch);
      }),
      RUNS,
    );
  });

  test('what is missing equals the lines just before it, and an ambiguous gap stands for each stretch of it', () => {
    let missing = 0;
    const gives = fc.constantFrom(8, 40, GIVES);
    fc.assert(
      fc.property(gives, fc.nat(6), bursts, (given, cut, sizes) => {
        const [log, polls] = [new LogService({ cut, gives: given }), new LogPolls()];
        const few = sizes.map((size) => Math.min(size, given >> 1));
        let wasDoubted = false;
        for (const burst of inBursts(stretchFor(lines, few), few)) {
          const before = log.lines.length;
          log.writeLines(burst);
          const records = ask(log, polls);
          const [taken, gaps] = [linesOf(records), gapsOf(records)];
          const suppressed = burst.slice(0, burst.length - taken.length);
          expect(taken).toEqual(burst.slice(suppressed.length));
          expect(log.lines.slice(before - suppressed.length, before)).toEqual(suppressed);
          expect(gaps.every(({ reason }) => reason === 'ambiguous')).toBe(true);
          const isDoubted = polls.state.progress.streams[PLAIN]?.doubted === true;
          if (suppressed.length > 0) expect(isDoubted).toBe(true);
          // One record for a stretch, at its beginning.
          expect(gaps).toHaveLength(isDoubted && !wasDoubted ? 1 : 0);
          wasDoubted = isDoubted;
          missing += suppressed.length;
        }
      }),
      { ...RUNS, examples: [[8, 0, [4]]] },
    );
    if (repeats) expect(missing).toBeGreaterThan(0);
  });

  test('more new lines than a tail holds: exactly one gap, before them', () => {
    const distinct = [...new Set(lines)];
    fc.assert(
      fc.property(fc.integer({ min: GIVES, max: 400 }), fc.nat(6), (count, cut) => {
        const [log, polls] = [new LogService({ cut, gives: GIVES }), new LogPolls()];
        // So that it is known what the service gives: a shorter tail would be a log that began anew.
        for (const burst of inBursts(distinct.slice(0, 320), [80])) {
          log.writeLines(burst);
          ask(log, polls);
        }
        fc.pre(distinct.length >= 320 + count);
        log.writeLines(distinct.slice(320, 320 + count));
        const records = ask(log, polls);
        expect(records[0]).toMatchObject({ gap: { reason: 'overrun', lost_min: 1 } });
        expect(gapsOf(records)).toHaveLength(1);
        expect(linesOf(records)).toEqual(distinct.slice(320, 320 + count).slice(1 - GIVES));
      }),
      RUNS,
    );
  });

  test('any two schedules of polls that lose nothing give the same', () => {
    fc.assert(
      fc.property(bursts, bursts, service, (first, second, options) => {
        const stretch = stretchFor(lines, first, second);
        const [one, other] = [first, second].map((sizes) => followed(stretch, sizes, options));
        expect(one?.lines).toEqual(other?.lines);
        expect(one?.records.map(({ seq, epoch }) => [epoch, seq])).toEqual(
          other?.records.map(({ seq, epoch }) => [epoch, seq]),
        );
      }),
      RUNS,
    );
  });

  test('a sink that stalls has every line or its number among those counted as dropped', async () => {
    const log = new LogService();
    const [clock, sink] = [new VirtualClock(), new CollectingSink()];
    const stall = Promise.withResolvers<void>();
    let dropped = 0;
    const pipeline = startLogPipeline({
      workergroupIds: [7],
      fetchTail: ({ tail }) => Promise.resolve(log.answer(tail)),
      spool: new MemorySpool({ sinks: [sink.name], maxBytes: 100_000 }),
      sinks: [sink],
      start: 'all',
      clock,
      random: () => 0,
      observe: (event) => {
        if (event.kind === 'dropped') dropped += event.records;
      },
    });
    for (const [turn, burst] of [...inBursts(lines, [100])].entries()) {
      if (turn === 3) sink.stall = stall.promise;
      log.writeLines(burst);
      await clock.advance(2_000);
    }
    stall.resolve();
    sink.stall = undefined;
    await clock.advance(60_000);
    await pipeline.stop(AbortSignal.abort());
    expect(dropped).toBeGreaterThan(100);
    expect(sink.records).toHaveLength(lines.length - dropped);
    expect(sink.records.map(({ seq }) => lines[seq - 1])).toEqual(linesOf(sink.records));
    const seqs = sink.records.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((left, right) => left - right));
  });

  test('no line is delivered as the beginning of what it becomes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 9 }), (sizes) => {
        const [log, polls] = [new LogService(), new LogPolls()];
        const lineSize = meanOf(lines.map(({ length }) => length));
        const few = lines.slice(0, Math.min(400, 3 + (MOST_POLLS * meanOf(sizes)) / lineSize));
        const text = `${few.join('\n')}\n`;
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          log.write(text.slice(at, at + size));
          ask(log, polls, 1_000); // a line that does not grow for 5 s counts as one
          at += size;
        }
        expect(polls.lines).toEqual(few);
      }),
      RUNS,
    );
  });
}
