import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { EVIDENT_LINES } from '../../../../src/logs/tail/align.ts';
import type { TailAnswer } from '../../../../src/logs/tail/answer.ts';
import type { GroupProgress } from '../../../../src/logs/tail/group.ts';
import { PLAIN } from '../../../../src/logs/tail/numbering.ts';
import { MAX_TAIL, reserve } from '../../../../src/logs/tail/rate.ts';
import { EMPTY_WINDOW, windowLines } from '../../../../src/logs/tail/window.ts';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';
import { LogService, type LogServiceOptions } from '../../../support/log-service.ts';

const distinct = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);

const service = fc.record<LogServiceOptions>({ endsLines: fc.boolean(), cut: fc.nat(6) });
const bursts = fc.array(fc.nat(120), { minLength: 1, maxLength: 12 });
/** Lines with very different amounts of repetition. */
const alphabet = fc.constantFrom(1, 2, 5, 12, 10_000);

function follow(log: LogService, polls: LogPolls): readonly string[] {
  return linesOf(polls.poll((tail) => log.answer(tail)));
}

/** Until a last line without an end has been taken too. */
function finish(log: LogService, polls: LogPolls): void {
  for (let poll = 0; poll < 4; poll++) polls.poll((tail) => log.answer(tail), 5_000);
}

describe('every line once', () => {
  test('whatever the lines, as long as the service holds the whole log', () => {
    fc.assert(
      fc.property(
        service,
        bursts,
        alphabet,
        fc.infiniteStream(fc.nat()),
        (options, counts, letters, draws) => {
          const [log, polls] = [new LogService(options), new LogPolls()];
          for (const count of counts) {
            log.writeLines(Array.from(draws.take(count), (draw) => `repeated ${draw % letters}`));
            follow(log, polls);
          }
          finish(log, polls);
          expect(polls.lines).toEqual(log.lines);
          expect(polls.gaps).toEqual([]);
        },
      ),
    );
  });

  test('also when a tail holds only a part of the log, as long as it overlaps what was taken', () => {
    fc.assert(
      fc.property(service, bursts, (options, counts) => {
        const log = new LogService({ ...options, gives: 200 });
        const polls = new LogPolls();
        log.writeLines(distinct(199));
        follow(log, polls);
        for (const count of counts) {
          log.writeLines(distinct(Math.min(count, 200 - reserve(200)), log.lines.length));
          follow(log, polls);
        }
        finish(log, polls);
        expect(polls.lines).toEqual(log.lines);
        expect(polls.gaps).toEqual([]);
      }),
    );
  });

  test('in the same order whatever the schedule of polls', () => {
    fc.assert(
      fc.property(bursts, bursts, alphabet, (first, second, letters) => {
        const lines = Array.from({ length: 600 }, (_, index) => `repeated ${(index * 7919) % letters}`);
        const [one, other] = [first, second].map((counts) => {
          const [log, polls] = [new LogService(), new LogPolls()];
          for (let at = 0, turn = 0; at < lines.length; turn++) {
            const count = 1 + (counts[turn % counts.length] ?? 0);
            log.writeLines(lines.slice(at, at + count));
            follow(log, polls);
            at += count;
          }
          return polls.lines;
        });
        expect(one).toEqual(other);
        expect(one).toEqual(lines);
      }),
    );
  });

  test('although every third poll is an error', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (let turn = 0; turn < 60; turn++) {
      log.writeLines(distinct(70, log.lines.length));
      polls.poll((tail) => (turn % 3 === 2 ? { kind: 'error', reason: 'status 503' } : log.answer(tail)));
    }
    expect(polls.lines).toEqual(log.lines.slice(0, polls.lines.length));
    expect(log.lines.length - polls.lines.length).toBe(70);
    expect(polls.gaps).toEqual([]);
  });

  test('although the service loses sight of the log for a while', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(distinct(50));
    follow(log, polls);
    const { window } = polls.state.progress.streams[PLAIN] ?? {};
    polls.poll(() => ({ kind: 'text', text: '' }));
    polls.poll(() => ({ kind: 'levels', levels: {} }));
    expect(polls.state.progress.streams[PLAIN]?.window).toBe(window);
    log.writeLines(distinct(5, 50));
    follow(log, polls);
    expect(polls.lines).toEqual(log.lines);
  });
});

describe('a loss is counted', () => {
  test('as one overrun before the new lines when more lines came than a tail holds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), service, (surplus, options) => {
        const [log, polls] = [new LogService(options), new LogPolls()];
        log.writeLines(distinct(300));
        follow(log, polls);
        log.writeLines(distinct(MAX_TAIL + surplus, 300));
        const records = polls.poll((tail) => log.answer(tail)).slice(options.endsLines ? 0 : 1);
        // The first line of a tail may be cut: what is left of it may be the end of the last line that was sure, or of
        // the one after it, which a service that joins its lines has shown too.
        const [first = ''] = log.tail(MAX_TAIL).split('\n');
        const mayBeNext = log.lines
          .slice(options.endsLines ? 299 : 298, 300)
          .some((line) => line.endsWith(first));
        const lost_min = mayBeNext ? 0 : 1;
        expect(records[0]).toMatchObject({ epoch: 1, gap: { reason: 'overrun', lost_min } });
        expect(polls.gaps).toHaveLength(1);
        finish(log, polls);
        expect(polls.gaps).toHaveLength(1);
        const lost = log.lines.length - polls.lines.length;
        expect(lost).toBeGreaterThanOrEqual(1);
        expect(polls.lines).toEqual([...log.lines.slice(0, 300), ...log.lines.slice(300 + lost)]);
      }),
      {
        numRuns: 20,
        examples: [
          [1_998, { endsLines: false, cut: 6 }],
          [1_999, { endsLines: false, cut: 6 }],
        ],
      },
    );
  });

  test('with an estimate from the line rate', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (let second = 0; second < 10; second++) {
      log.writeLines(distinct(1_000, log.lines.length));
      polls.poll((tail) => log.answer(tail), 1_000);
    }
    log.writeLines(distinct(20_000, log.lines.length));
    polls.poll((tail) => log.answer(tail), 20_000);
    const [gap] = polls.gaps;
    expect(gap?.reason).toBe('overrun');
    expect(gap?.lost_estimate).toBeGreaterThan(6_000);
    expect(gap?.lost_estimate).toBeLessThan(11_000);
  });

  test('with an estimate from the line rate also after a restart, and however long it took', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (let second = 0; second < 10; second++) {
      log.writeLines(distinct(100, log.lines.length));
      polls.poll((tail) => log.answer(tail), 1_000);
    }
    log.writeLines(distinct(90_000, log.lines.length));
    const again = new LogPolls({ progress: polls.state.progress });
    again.now = polls.now;
    again.poll((tail) => log.answer(tail), 900_000);
    expect(again.gaps).toMatchObject([{ reason: 'overrun', lost_min: 1 }]);
    expect(again.gaps[0]?.lost_estimate).toBeGreaterThan(70_000);
    expect(again.gaps[0]?.lost_estimate).toBeLessThan(90_000);
  });

  test('as a reset that begins a new epoch when the log began anew', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(distinct(300));
    follow(log, polls);
    log.reset();
    log.writeLines(['booting', 'ready']);
    const records = polls.poll((tail) => log.answer(tail));
    expect(records.map(({ epoch, seq }) => [epoch, seq])).toEqual([
      [2, 301],
      [2, 302],
      [2, 303],
    ]);
    expect(records[0]).toMatchObject({ gap: { reason: 'reset', lost_min: 0 } });
    expect(linesOf(records)).toEqual(['booting', 'ready']);
  });

  test('after the last line of a log that began anew, where the service never ends its last line', () => {
    const [log, polls] = [new LogService({ endsLines: false }), new LogPolls()];
    log.writeLines(['serving', 'Segmentation fault']);
    follow(log, polls);
    log.reset();
    log.writeLines(['booting', 'ready']);
    follow(log, polls);
    expect(polls.records).toMatchObject([
      { epoch: 1, line: 'serving' },
      { epoch: 1, line: 'Segmentation fault' },
      { epoch: 2, gap: { reason: 'reset', lost_min: 0 } },
      { epoch: 2, line: 'booting' },
    ]);
  });

  test('as an overrun, not a reset, of a service that was found to give fewer lines than asked', () => {
    const [log, polls] = [new LogService({ gives: 100 }), new LogPolls()];
    for (const count of [50, 80, 80]) {
      log.writeLines(distinct(count, log.lines.length));
      follow(log, polls);
    }
    expect(polls.gaps).toEqual([]);
    log.writeLines(distinct(101, log.lines.length));
    follow(log, polls);
    expect(polls.gaps).toMatchObject([{ reason: 'overrun', lost_min: 1 }]);
    expect(polls.state.progress.epoch).toBe(1);
  });

  test('as ambiguous, with the most that can be missing, when nothing but repeats is in reach', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(Array.from({ length: MAX_TAIL + 100 }, () => 'GET /health 200'));
    follow(log, polls);
    log.writeLines(Array.from({ length: 40 }, () => 'GET /health 200'));
    const records = polls.poll((tail) => log.answer(tail));
    expect(linesOf(records)).toEqual([]);
    expect(polls.gaps).toHaveLength(1);
    expect(polls.gaps[0]).toMatchObject({ reason: 'ambiguous', lost_min: 0 });
    expect(polls.gaps[0]?.lost_estimate).toBeGreaterThanOrEqual(40);
  });

  test('not as lost lines when a wider tail tells repeats apart', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines([...distinct(300), ...Array.from({ length: 300 }, () => 'GET /health 200')]);
    follow(log, polls);
    log.writeLines(Array.from({ length: 40 }, () => 'GET /health 200'));
    const before = polls.polls;
    follow(log, polls);
    expect(polls.polls - before).toBe(2);
    expect(polls.lines).toEqual(log.lines);
    expect(polls.gaps).toEqual([]);
    expect(polls.next.tail).toBe(400);
  });

  test('when what was known of earlier epochs is lost', () => {
    const [log, polls] = [new LogService(), new LogPolls({ epochAfterLoss: 1_700_000_000 })];
    log.writeLines(['a']);
    follow(log, polls);
    expect(polls.records).toMatchObject([
      { epoch: 1_700_000_000, seq: 1, gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 } },
      { epoch: 1_700_000_000, seq: 2, line: 'a' },
    ]);
  });
});

describe('a line without an end', () => {
  test('is never delivered as a part of the line that it becomes', () => {
    const piece = fc.stringMatching(/^[a-c\r]{0,4}$/);
    fc.assert(
      fc.property(fc.array(fc.record({ text: piece, ends: fc.boolean() }), { maxLength: 40 }), (writes) => {
        const [log, polls] = [new LogService(), new LogPolls()];
        for (const { text, ends } of writes) {
          log.write(`x${text}${ends ? '\n' : ''}`);
          follow(log, polls);
        }
        log.write('\n');
        follow(log, polls);
        expect(polls.lines).toEqual(log.lines.map((line) => line.replace(/\r+$/, '').replace(/^[^]*\r/, '')));
      }),
    );
  });

  test('is a progress bar that grows: its last state is delivered, when it ends', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.write('loading\n 10%');
    expect(follow(log, polls)).toEqual(['loading']);
    for (const percent of [20, 30, 100]) {
      log.write(`\r ${percent}%`);
      expect(follow(log, polls)).toEqual([]);
    }
    log.write('\nready\n');
    expect(follow(log, polls)).toEqual([' 100%', 'ready']);
  });

  test('is replaced when the service redraws it', () => {
    const polls = new LogPolls();
    const texts = ['a\n 10%', 'a\n 20%', 'a\n100%\nb\n'];
    expect(texts.flatMap((text) => linesOf(polls.poll(() => ({ kind: 'text', text }))))).toEqual([
      'a',
      '100%',
      'b',
    ]);
  });

  test('waits until it is ended where the service ends its lines, however long it rests, also across a restart', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(['a']);
    follow(log, polls);
    log.write('loading ... ');
    for (let poll = 0; poll < 8; poll++) expect(follow(log, polls)).toEqual([]);
    const again = new LogPolls({ progress: polls.state.progress });
    again.now = polls.now;
    for (let poll = 0; poll < 8; poll++) expect(follow(log, again)).toEqual([]);
    log.write('done\nnext\n');
    expect(follow(log, again)).toEqual(['loading ... done', 'next']);
  });

  test('is what a process said last, where its log ends with it', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(['serving']);
    follow(log, polls);
    log.write('Segmentation fault');
    for (let poll = 0; poll < 8; poll++) expect(follow(log, polls)).toEqual([]);
    const again = new LogPolls({ progress: polls.state.progress });
    again.now = polls.now;
    log.reset();
    log.writeLines(['booting', 'ready']);
    again.poll((tail) => log.answer(tail));
    expect(again.records).toMatchObject([
      { epoch: 1, line: 'Segmentation fault' },
      { epoch: 2, gap: { reason: 'reset', lost_min: 0 } },
      { epoch: 2, line: 'booting' },
      { epoch: 2, line: 'ready' },
    ]);
  });

  test('counts after a whole interval and 5 s where the service joins its lines, and not again when it is followed', () => {
    const [log, polls] = [new LogService({ endsLines: false }), new LogPolls()];
    log.writeLines(['a', 'Segmentation fault']);
    expect(follow(log, polls)).toEqual(['a']);
    const waits = Array.from({ length: 6 }, () => linesOf(polls.poll((tail) => log.answer(tail), 1_000)));
    expect(waits).toEqual([[], [], [], [], [], ['Segmentation fault']]);
    log.writeLines(['b', 'c']);
    expect(follow(log, polls)).toEqual(['b']);
  });

  test('that grows after it counted is continued by a record that says so', () => {
    const [log, polls] = [new LogService({ endsLines: false }), new LogPolls()];
    log.write('loading ... ');
    follow(log, polls);
    for (let poll = 0; poll < 6; poll++) polls.poll((tail) => log.answer(tail), 1_000);
    log.write('done');
    expect(follow(log, polls)).toEqual([]);
    log.write('\nnext\n');
    follow(log, polls);
    expect(polls.records).toMatchObject([{ line: 'loading ... ' }, { line: 'done', continues: true }]);
    expect(polls.records[0]).not.toHaveProperty('continues');
  });

  test('that was stored by version 0.1 is known for what it was', () => {
    for (const [delivered, expected] of [
      [true, ['next']],
      [false, ['loading', 'next']],
    ] as const) {
      const [log, polls] = [new LogService(), new LogPolls()];
      log.writeLines(['a']);
      follow(log, polls);
      const { '': stream } = polls.state.progress.streams;
      const pending = { text: 'loading', delivered, since: polls.now };
      const streams = { '': Object.assign({}, stream, { pending }) };
      const again = new LogPolls({ progress: { ...polls.state.progress, streams } });
      log.writeLines(['loading', 'next']);
      expect(follow(log, again)).toEqual(expected);
    }
  });

  test('keeps the interval short while it is waited for', () => {
    const [log, polls] = [new LogService({ endsLines: false }), new LogPolls()];
    log.write('a\nb');
    follow(log, polls);
    expect(polls.next.delayMs).toBe(1_000);
  });
});

describe('the window', () => {
  test('ends with the tail after every aligned poll', () => {
    fc.assert(
      fc.property(
        service,
        bursts,
        alphabet,
        fc.option(fc.constant(150), { nil: Infinity }),
        (options, counts, letters, gives) => {
          const [log, polls] = [new LogService({ ...options, endsLines: true, gives }), new LogPolls()];
          for (const count of counts) {
            log.writeLines(Array.from({ length: count }, (_, index) => `repeated ${(index * 31) % letters}`));
            follow(log, polls);
            const stream = polls.state.progress.streams[PLAIN];
            // Of too few distinct lines, and fewer than were asked for, a tail can be what the log began with.
            if (stream?.held !== undefined) {
              expect(letters).toBeLessThan(EVIDENT_LINES);
              continue;
            }
            const window = windowLines(stream?.window ?? EMPTY_WINDOW);
            const tail = log.tail(polls.next.tail).split('\n').slice(1, -1);
            const overlap = Math.min(tail.length, window.length);
            expect(window.slice(window.length - overlap)).toEqual(tail.slice(tail.length - overlap));
          }
        },
      ),
      {
        examples: [
          // The service gives fewer lines than were asked for, and a part of them is of a period.
          [{ cut: 1 }, [90, 64, 55, 0], 5, 150],
          [{}, [60, 100, 15, 38, 118], 2, 150],
          // Another order of two words is no older view.
          [{}, [103, 47, 76, 0], 2, 150],
        ],
      },
    );
  });

  test('holds as many lines as the widest tail, and knows how many were before', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (let poll = 0; poll < 4; poll++) {
      log.writeLines(distinct(4_000, log.lines.length));
      follow(log, polls);
    }
    const window = polls.state.progress.streams[PLAIN]?.window;
    expect(window?.from).toBe(6_000);
    expect(windowLines(window ?? EMPTY_WINDOW)).toEqual(log.lines.slice(6_000));
  });
});

test('a line taken does not keep alive the tail that it came in', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const polls = new LogPolls();
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let at = 0; at < 1_000; at++) {
    const text = distinct(200, at).map((line) => `${line} ${'x'.repeat(90)}\n`);
    polls.poll(() => ({ kind: 'text', text: text.join('') }));
  }
  // 20 MB of tails went by, of which 1,200 lines were taken.
  expect(used() - before).toBeLessThan(8_000_000);
  expect(polls.lines).toHaveLength(1_199);
});

describe('where following begins', () => {
  test('end: what stands there at first is not delivered, also where its last line has no end', () => {
    for (const endsLines of [true, false]) {
      const [log, polls] = [new LogService({ endsLines }), new LogPolls({ start: 'end' })];
      log.writeLines(distinct(20));
      follow(log, polls);
      follow(log, polls);
      log.writeLines(['new']);
      finish(log, polls);
      expect(polls.lines).toEqual(['new']);
      expect(polls.gaps).toEqual([]);
    }
  });

  test('end: all is new in a log that was empty at first', () => {
    const [log, polls] = [new LogService(), new LogPolls({ start: 'end' })];
    follow(log, polls);
    log.writeLines(['first']);
    follow(log, polls);
    expect(polls.lines).toEqual(['first']);
  });

  test.each([9_998, 9_999, 10_000, 10_001])(
    'all: with everything that the service gives of %i lines, once, and without a gap',
    (count) => {
      for (const [endsLines, partial] of [
        [true, ''],
        [true, 'being writ'],
        [false, ''],
      ] as const) {
        const [log, polls] = [new LogService({ endsLines }), new LogPolls()];
        log.writeLines(distinct(count));
        log.write(partial);
        const given = log
          .tail(MAX_TAIL)
          .split('\n')
          .filter((line) => line !== '' && line !== partial);
        follow(log, polls);
        const again = new LogPolls({ progress: polls.state.progress });
        again.now = polls.now;
        log.write(partial === '' ? 'next\n' : 'ten\nnext\n');
        finish(log, again);
        const fresh = partial === '' ? ['next'] : ['being written', 'next'];
        expect([...polls.lines, ...again.lines]).toEqual([...given, ...fresh]);
        expect([...polls.gaps, ...again.gaps]).toEqual([]);
      }
    },
  );

  test('all: also with what is left of a first line that is cut, which a wider tail does not show again', () => {
    const [log, polls] = [new LogService({ cut: 3 }), new LogPolls()];
    const answer = (tail: number): TailAnswer =>
      tail > 1_250 ? { kind: 'error', reason: 'status 413', tooLarge: 'surely' } : log.answer(tail);
    log.writeLines(distinct(MAX_TAIL + 500));
    while (polls.lines.length === 0) polls.poll(answer);
    const whole = distinct(1_249, 9_251);
    expect(polls.lines).toEqual(['e 9250', ...whole]);
    expect(windowLines(polls.state.progress.streams[PLAIN]?.window ?? EMPTY_WINDOW)).toEqual(whole);
    // Whatever was too large has gone.
    const { sizeLimit: _, ...progress } = polls.state.progress;
    const again = new LogPolls({ progress });
    expect(again.next.tail).toBe(MAX_TAIL);
    log.writeLines(['next']);
    expect(follow(log, again)).toEqual(['next']);
    // What stands above it is told of once.
    expect(polls.gaps).toEqual([{ reason: 'overrun', lost_min: 0, lost_estimate: 1 }]);
    expect(again.gaps).toEqual([]);
  });

  test('after a restart: where it was left', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(distinct(30));
    follow(log, polls);
    log.writeLines(distinct(12, 30));
    const again = new LogPolls({ progress: polls.state.progress, start: 'end' });
    expect(linesOf(again.poll((tail) => log.answer(tail)))).toEqual(distinct(12, 30));
    expect(again.records[0]?.seq).toBe(31);
  });
});

describe('records', () => {
  test('have times that strictly increase, even when the clock goes back', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (const wait of [1_000, -5_000, 0, 1_000]) {
      log.writeLines(distinct(2_500, log.lines.length));
      polls.poll((tail) => log.answer(tail), wait);
    }
    const times = polls.records.map(({ time }) => time);
    expect(times).toHaveLength(10_000);
    expect(times.every((time, index) => index === 0 || time > (times[index - 1] ?? ''))).toBe(true);
    expect(times[0]).toBe('2023-11-14T22:13:21.000000Z');
  });

  test('are numbered without a hole', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (const count of [10, 0, 12_000, 5]) {
      log.writeLines(distinct(count, log.lines.length));
      follow(log, polls);
    }
    expect(polls.records.map(({ seq }) => seq)).toEqual(polls.records.map((_, index) => index + 1));
  });

  test('name the level where the service answers with one text for each, and follow each on its own', () => {
    const polls = new LogPolls();
    polls.poll(() => ({ kind: 'levels', levels: { info0: 'a\n', debug: 'x\n' } }));
    polls.poll(() => ({ kind: 'levels', levels: { info0: 'a\nb\n', debug: 'x\nx\n' } }));
    expect(polls.records).toMatchObject([
      { seq: 1, line: 'a', level: 'info0' },
      { seq: 2, line: 'x', level: 'debug' },
      { seq: 3, line: 'b', level: 'info0' },
      { seq: 4, line: 'x', level: 'debug' },
    ]);
  });

  test('are of one epoch where the levels of one log that began anew show it one after another', () => {
    const polls = new LogPolls();
    const many = (word: string) => distinct(30).map((line) => `${word} ${line}\n`);
    const poll = (info: string, warn: string, waitMs = 1_000) =>
      polls.poll(() => ({ kind: 'levels', levels: { info, warn } }), waitMs);
    poll(many('info').join(''), many('warn').join(''));
    poll('booting\n', '');
    poll('booting\n', 'a warning\n');
    expect(polls.gaps.map(({ reason }) => reason)).toEqual(['reset', 'reset']);
    expect(polls.records.at(-1)).toMatchObject({ epoch: 2, level: 'warn' });
    poll('booting again\n', 'a warning\n');
    expect(polls.records.at(-1)).toMatchObject({ epoch: 3, level: 'info' });
    poll('booting again\n', 'another\n', 120_000);
    expect(polls.records.at(-1)).toMatchObject({ epoch: 4, level: 'warn' });
  });

  test('of lost lines tell of the share of each level', () => {
    const polls = new LogPolls();
    const levels = (from: number) => ({
      info: distinct(5_000, from)
        .map((line) => `${line}\n`)
        .join(''),
      warn: distinct(5_000, from)
        .map((line) => `warn ${line}\n`)
        .join(''),
    });
    const poll = (from: number, waitMs: number) =>
      polls.poll(() => ({ kind: 'levels', levels: levels(from) }), waitMs);
    for (let second = 0; second < 10; second++) poll(100 * second, 1_000);
    const { info, warn } = levels(50_000);
    polls.poll((tail) => {
      const last = (text: string) => text.split('\n').slice(-tail).join('\n');
      return { kind: 'levels', levels: { info: last(info), warn: last(warn) } };
    }, 100_000);
    expect(polls.gaps).toHaveLength(2);
    for (const { lost_estimate } of polls.gaps) {
      expect(lost_estimate).toBeGreaterThan(4_000);
      expect(lost_estimate).toBeLessThan(12_000);
    }
  });
});

test.each(['time', 'ceiling', 'linesPerSecond'] as const)(
  'what was stored without its %s goes on as if none were known',
  (field) => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(distinct(20));
    follow(log, polls);
    const { [field]: _, ...stored } = polls.stored!;
    const again = new LogPolls({ progress: stored as GroupProgress });
    log.writeLines(distinct(20, 20));
    follow(log, again);
    expect(again.lines).toEqual(distinct(20, 20));
    expect(again.records.every(({ time }) => Date.parse(time) >= again.now - 60_000)).toBe(true);
  },
);
