/** The cases of issue 18, as they were reproduced: what the first version made of them stands beside each. */
import { describe, expect, test } from 'vitest';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);

function follow(log: LogService, polls: LogPolls, waitMs?: number): readonly string[] {
  return linesOf(polls.poll((tail) => log.answer(tail), waitMs));
}

const text = (lines: readonly string[], tail: number) =>
  ({
    kind: 'text',
    text: lines
      .slice(-tail)
      .map((line) => `${line}\n`)
      .join(''),
  }) as const;

describe('a view that is no pure append', () => {
  test('every fifth answer three lines old: 785 lines were printed for 148', () => {
    const polls = new LogPolls();
    const lines: string[] = [];
    for (let poll = 1; poll <= 74; poll++) {
      lines.push(...numbered(2, lines.length));
      polls.poll((tail) => text(poll % 5 === 0 ? lines.slice(0, -3) : lines, tail), 1_000);
    }
    expect(polls.lines).toEqual(lines);
    expect(polls.gaps).toEqual([]);
  });

  test('two backends in turn, one eight lines behind: 66,650 for 2,300', () => {
    const polls = new LogPolls();
    const lines: string[] = [];
    for (let poll = 0; poll < 115; poll++) {
      lines.push(...numbered(20, lines.length));
      polls.poll((tail) => text(poll % 2 === 1 ? lines.slice(0, -8) : lines, tail), 1_000);
    }
    polls.poll((tail) => text(lines, tail));
    expect(polls.lines).toEqual(lines);
    expect(polls.gaps).toEqual([]);
  });

  test('one late line near the end of 30,000: 9,998 duplicates and an overrun', () => {
    const polls = new LogPolls();
    const lines = numbered(30_000);
    polls.poll((tail) => text(lines, tail));
    const before = polls.records.length;
    const late = lines.toSpliced(-3, 0, 'late');
    expect(linesOf(polls.poll((tail) => text(late, tail)))).toEqual(['late']);
    expect(linesOf(polls.poll((tail) => text([...late, 'next'], tail)))).toEqual(['next']);
    expect(polls.records).toHaveLength(before + 2);
  });

  test('every tenth answer older than all that the window has: 107,287 duplicates', () => {
    let answers = 0;
    const [log, polls] = [
      new LogService({ stale: () => (++answers % 10 === 0 ? 12_000 : 0) }),
      new LogPolls(),
    ];
    for (let second = 0; second < 55; second++) {
      log.now = polls.now + 1_000;
      log.writeLines(Array.from({ length: 1_000 }, (_, index) => `line ${1_000 * second + index}`));
      polls.poll((tail) => log.answer(tail), 1_000);
    }
    expect(polls.lines).toEqual(log.lines);
    expect(polls.gaps).toEqual([]);
  });

  test('of a line that repeats, one more is one more, wherever it stands', () => {
    const polls = new LogPolls();
    const lines = numbered(40).flatMap((line) => [line, 'GET /health 200']);
    polls.poll((tail) => text(lines, tail));
    const more = lines.toSpliced(31, 0, 'GET /health 200');
    expect(linesOf(polls.poll((tail) => text(more, tail)))).toEqual(['GET /health 200']);
    expect(linesOf(polls.poll((tail) => text(more, tail)))).toEqual([]);
  });

  test('a log that repeats itself is not taken for its own past', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    const round = numbered(700);
    log.writeLines([...round, ...round.slice(0, 250)]);
    follow(log, polls);
    // More than a tail holds, and all of it stood there 700 lines ago.
    log.writeLines(round.slice(250, 500));
    expect(polls.next.tail).toBeLessThan(250);
    expect(follow(log, polls)).toEqual(round.slice(250, 500));
    expect(polls.gaps).toEqual([]);
  });

  test('of the first seconds of a log: an older view of a few lines, of which one came late', () => {
    for (const old of [
      [0, 2, 3],
      [1, 2, 3, 4],
    ]) {
      const polls = new LogPolls();
      const lines = numbered(9);
      polls.poll((tail) => text(lines, tail));
      polls.poll((tail) =>
        text(
          old.map((index) => `line ${index}`),
          tail,
        ),
      );
      for (let poll = 0; poll < 3; poll++) polls.poll((tail) => text([...lines, 'next'], tail));
      expect(polls.lines).toEqual([...lines, 'next']);
      expect(polls.gaps).toEqual([]);
    }
  });

  test('two lines that change places are the same two lines', () => {
    const polls = new LogPolls();
    const lines = numbered(40);
    polls.poll((tail) => text(lines, tail));
    const swapped = lines.with(20, 'line 21').with(21, 'line 20');
    expect(linesOf(polls.poll((tail) => text([...swapped, 'next'], tail)))).toEqual(['next']);
    expect(polls.gaps).toEqual([]);
  });

  test('a log that lost its end is one after a minute and five answers, and nothing is delivered again', () => {
    const polls = new LogPolls();
    const lines = numbered(400);
    polls.poll((tail) => text(lines, tail));
    const cut = lines.slice(0, -30);
    for (let poll = 0; poll < 6; poll++) polls.poll((tail) => text(cut, tail), 10_000);
    expect(polls.gaps).toEqual([]);
    polls.poll((tail) => text(cut, tail), 10_000);
    expect(polls.gaps).toMatchObject([{ reason: 'reset', lost_min: 0 }]);
    expect(linesOf(polls.poll((tail) => text([...cut, 'another'], tail)))).toEqual(['another']);
    expect(polls.lines).toEqual([...lines, 'another']);
    expect(polls.records.at(-1)).toMatchObject({ epoch: 2 });
  });

  test('from a service that joins its lines: what was said last is delivered, and what is left is not again', () => {
    const polls = new LogPolls();
    const joined = (lines: readonly string[]) => () => ({ kind: 'text', text: lines.join('\n') }) as const;
    const lines = numbered(30);
    for (let poll = 0; poll < 3; poll++) polls.poll(joined(lines), 1_000);
    const cut = lines.slice(0, 25);
    for (let poll = 0; poll < 100; poll++) polls.poll(joined(cut), 1_000);
    for (let poll = 0; poll < 10; poll++) polls.poll(joined([...cut, 'next', 'after']), 1_000);
    expect(polls.lines).toEqual([...lines, 'next', 'after']);
    expect(polls.gaps).toMatchObject([{ reason: 'reset' }]);
  });

  test('a short log that began anew is seen, although its few lines stand at the end of the one before', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines([...numbered(100), 'login', 'login']);
    follow(log, polls);
    log.reset();
    log.writeLines(['login', 'login', 'ready']);
    expect(follow(log, polls)).toEqual(['login', 'login', 'ready']);
    expect(polls.gaps).toMatchObject([{ reason: 'reset', lost_min: 0 }]);
  });

  test('a late line above all others is delivered', () => {
    const polls = new LogPolls();
    polls.poll((tail) => text(numbered(3), tail));
    const lines = ['late', ...numbered(5)];
    expect(linesOf(polls.poll((tail) => text(lines, tail)))).toEqual(['late', 'line 3', 'line 4']);
    expect(polls.gaps).toEqual([]);
  });

  test('a log that begins anew in the same words is seen after a minute, and delivered', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    const boot = numbered(12);
    log.writeLines([...boot, ...numbered(100, 500)]);
    follow(log, polls);
    log.reset();
    log.writeLines(boot);
    for (let poll = 0; poll < 6; poll++) expect(follow(log, polls, 10_000)).toEqual([]);
    expect(follow(log, polls, 10_000)).toEqual(boot);
    expect(polls.gaps).toMatchObject([{ reason: 'reset' }]);
  });
});

describe('the last line', () => {
  test('a progress bar of 1,000 steps, each of which rests: 1,003 records of 44 MB', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(['loading', 'weights']);
    follow(log, polls);
    for (let step = 1; step <= 1_000; step++) {
      log.write(`${step === 1 ? '' : '\r'}${'#'.repeat(Math.floor(step / 20))} ${step / 10}%`);
      follow(log, polls, 6_000);
    }
    log.write('\nready\n');
    follow(log, polls);
    expect(polls.lines).toEqual(['loading', 'weights', `${'#'.repeat(50)} 100%`, 'ready']);
  });
});

describe('an answer that is too large', () => {
  test('lines of 8 KB: eleven questions of 10,000, no line', () => {
    const [log, polls] = [new LogService({ byteLimit: 2 ** 20 }), new LogPolls()];
    const long = (from: number, count: number) =>
      numbered(count, from).map((line) => line.padEnd(8_192, '.'));
    log.writeLines(long(0, 400));
    for (let poll = 0; poll < 8; poll++) follow(log, polls);
    // Of 400 lines that are there, so many come through.
    expect(polls.gaps).toEqual([{ reason: 'overrun', lost_min: 0, lost_estimate: 1 }]);
    expect(polls.lines.length).toBeGreaterThan(60);
    expect(polls.lines.at(-1)).toBe(log.lines.at(-1));
    const asked: number[] = [];
    let refused = 0;
    for (let second = 0; second < 200; second++) {
      log.writeLines(long(log.lines.length, 10));
      polls.poll((tail) => {
        asked.push(tail);
        const answer = log.answer(tail);
        if (answer.kind === 'error') refused += 1;
        return answer;
      }, 1_000);
    }
    expect(polls.gaps).toHaveLength(1);
    expect(polls.lines.slice(-2_000)).toEqual(log.lines.slice(-2_000));
    // It is tried again, ever more slowly.
    expect(Math.max(...asked)).toBeGreaterThan(128);
    expect(refused).toBeLessThan(12);
  });

  test('a late line in the place of the first one, which may be cut: two known lines, and they came again', () => {
    const polls = new LogPolls();
    const show = (lines: readonly string[]) =>
      polls.poll((tail) =>
        tail > lines.length + 1
          ? { kind: 'error', reason: 'status 413', tooLarge: 'surely' }
          : {
              kind: 'text',
              text: lines
                .slice(-tail)
                .map((line) => `${line}\n`)
                .join(''),
            },
      );
    const log = numbered(700);
    while (polls.lines.length === 0) show(log.slice(0, 300));
    while (polls.lines.at(-1) !== log[301]) show(log.slice(100, 302));
    const { tail } = polls.next;
    const fresh = log.slice(302, 302 + tail - 3);
    expect(linesOf(show(['late', ...log.slice(300, 302), ...fresh]))).toEqual(fresh);
    expect(polls.gaps.filter(({ lost_min }) => lost_min > 0)).toEqual([]);
  });

  test('the newest lines come first, and what is skipped is a gap', () => {
    const [log, polls] = [new LogService({ byteLimit: 20_000 }), new LogPolls()];
    log.writeLines(numbered(50).map((line) => line.padEnd(100, '.')));
    for (let poll = 0; poll < 10; poll++) follow(log, polls);
    log.writeLines(numbered(2_000, 50).map((line) => line.padEnd(100, '.')));
    for (let poll = 0; poll < 10; poll++) follow(log, polls);
    expect(polls.lines.at(-1)).toBe(log.lines.at(-1));
    expect(polls.gaps).toMatchObject([{ reason: 'overrun', lost_min: 1 }]);
  });

  test('an outage that looks like one costs no line', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(numbered(3_000));
    follow(log, polls);
    log.writeLines(numbered(2_000, 3_000));
    for (let poll = 0; poll < 12; poll++) {
      polls.poll(() => ({
        kind: 'error',
        reason: 'no complete answer within 30000 ms',
        tooLarge: 'perhaps',
      }));
    }
    expect(polls.next.tail).toBeLessThan(200);
    for (let poll = 0; poll < 12; poll++) follow(log, polls);
    expect(polls.lines).toEqual(log.lines);
    expect(polls.gaps).toEqual([]);
  });

  const CUT = { kind: 'error', reason: 'connection failed (reset)', tooLarge: 'perhaps' } as const;

  test('two resets, half an hour apart, are no limit: a burst of 5,000 lines lost 4,611', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (let second = 0; second < 3_600; second++) {
      log.writeLines(numbered(10, log.lines.length));
      polls.poll((tail) => (second % 1_800 === 900 ? CUT : log.answer(tail)), 1_000);
    }
    log.writeLines(numbered(5_000, log.lines.length));
    follow(log, polls, 1_000);
    expect(polls.lines).toEqual(log.lines);
    expect(polls.gaps).toEqual([]);
  });

  test('every tenth poll is cut, at 100 lines/s: of 90,011 lines 72,849 were lost', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    // No two in a row, and often enough one that asks for what the one before did not bring.
    const isCut = (poll: number): boolean => poll % 10 === 3 || poll % 70 === 4 || poll % 210 === 5;
    let [written, poll] = [0, 0];
    const from = polls.now;
    while (polls.now - from < 900_000) {
      const due = Math.ceil((polls.now - from + polls.next.delayMs) / 10);
      log.writeLines(numbered(due - written, written));
      written = due;
      poll += 1;
      polls.poll((tail) => (isCut(poll) ? CUT : log.answer(tail)));
    }
    follow(log, polls);
    expect(polls.lines).toEqual(log.lines);
    expect(polls.gaps).toEqual([]);
  });

  test.each([
    ['a whole log that comes through shows that what failed before was no limit', 'FFFFFFF.FF.F.F.'],
    [
      'what was only supposed to fail is tried again before lines are given up',
      'FFFFFFF.F..FFFF.FFFFFFF.FF..FF...',
    ],
  ])('%s', (_, fails) => {
    const [log, polls] = [new LogService(), new LogPolls()];
    let asked = 0;
    for (let poll = -20; poll < 45; poll++) {
      log.writeLines(numbered(4, log.lines.length));
      polls.poll((tail) => (poll >= 0 && fails[asked++] === 'F' ? CUT : log.answer(tail)));
    }
    expect(polls.gaps).toEqual([]);
    expect(polls.lines).toEqual(log.lines);
  });

  test('two minutes without an answer leave what is known of the size as it was: the tail fell to 3 lines', () => {
    const [log, polls] = [new LogService({ byteLimit: 2 ** 20 }), new LogPolls()];
    const write = (count: number) =>
      log.writeLines(numbered(count, log.lines.length).map((line) => line.padEnd(8_192, '.')));
    for (let second = 0; second < 120; second++) {
      write(5);
      follow(log, polls, 1_000);
    }
    const before = polls.next.tail;
    for (const end = polls.now + 120_000; polls.now < end;) polls.poll(() => CUT);
    write(600);
    for (let poll = 0; poll < 5; poll++) follow(log, polls, 1_000);
    expect(polls.next.tail).toBeGreaterThanOrEqual(before);
    const delivered = polls.lines.length;
    for (let second = 0; second < 120; second++) {
      write(5);
      follow(log, polls, 1_000);
    }
    expect(polls.lines.length - delivered).toBe(600);
    expect(polls.gaps).toMatchObject([{ reason: 'overrun' }]);
  });

  test('what is first seen at the end of an outage is the whole log', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines(numbered(9_000));
    for (let poll = 0; poll < 20; poll++) polls.poll(() => CUT);
    expect(polls.next.tail).toBe(3);
    follow(log, polls);
    expect(polls.lines).toEqual(log.lines);
  });

  test('an answer that does not come in time is no sure sign, and a limit is found all the same', () => {
    const [log, polls] = [new LogService({ byteLimit: 2 ** 20 }), new LogPolls()];
    let cut = 0;
    for (let second = 0; second < 250; second++) {
      log.writeLines(numbered(5, log.lines.length).map((line) => line.padEnd(8_192, '.')));
      polls.poll((tail) => {
        const answer = log.answer(tail);
        if (answer.kind !== 'error') return answer;
        cut += 1;
        return CUT;
      }, 1_000);
    }
    expect(polls.lines).toEqual(log.lines.slice(-polls.lines.length));
    expect(polls.lines.length).toBeGreaterThan(1_150);
    expect(cut).toBeLessThan(25);
  });

  test('how much fits is known after a restart', () => {
    const [log, polls] = [new LogService({ byteLimit: 2 ** 20 }), new LogPolls()];
    log.writeLines(numbered(400).map((line) => line.padEnd(8_192, '.')));
    for (let poll = 0; poll < 8; poll++) follow(log, polls);
    expect(new LogPolls({ progress: polls.state.progress }).next.tail).toBeLessThan(129);
  });
});

describe('lines that repeat', () => {
  const HEALTH = 'GET /health 200';

  test('a tail full of one line: ≈10,000 lost at every poll', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (let poll = 0; poll < 90; poll++) {
      log.writeLines(Array.from({ length: 150 }, () => HEALTH));
      follow(log, polls, 1_000);
    }
    expect(polls.gaps).toHaveLength(1);
    expect(polls.gaps[0]).toMatchObject({ reason: 'ambiguous', lost_min: 0 });
    // At the rate of 150 a second: what one poll can have suppressed.
    expect(polls.gaps[0]?.lost_estimate).toBeLessThanOrEqual(300);
  });

  test('a block of 20 lines that repeats: 600 delivered rightly, and 600 gaps of 5.99 million', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    const block = numbered(20);
    for (let poll = 0; poll < 30; poll++) {
      log.writeLines([...block, ...block]);
      follow(log, polls, 1_000);
    }
    const before = polls.gaps.length;
    const again = Array.from({ length: 600 }, () => {
      log.writeLines(block.slice(0, 10));
      const lines = follow(log, polls, 1_000);
      log.writeLines(block.slice(10));
      return [...lines, ...follow(log, polls, 1_000)];
    });
    expect(again.every((lines) => lines.length === 20)).toBe(true);
    expect(polls.gaps.length - before).toBeLessThanOrEqual(1);
    for (const { lost_estimate } of polls.gaps) expect(lost_estimate).toBeLessThanOrEqual(80);
  });

  test('a late line among them: what follows it is known, 48,916 duplicates', () => {
    for (const size of [2_000, 12_000]) {
      const polls = new LogPolls();
      const step = (index: number) => `step ${index % 20}`;
      const lines = Array.from({ length: size }, (_, index) => step(index));
      polls.poll((tail) => text(lines, tail));
      const before = polls.lines.length;
      for (let poll = 1; poll <= 60; poll++) {
        for (let index = 0; index < 10; index++) lines.push(step(size + 10 * (poll - 1) + index));
        if (poll % 20 === 0) lines.splice(-25, 0, `late ${poll}`);
        polls.poll((tail) => text(lines, tail), 1_000);
      }
      const lost = before + 603 - polls.lines.length;
      expect(polls.lines.filter((line) => line.startsWith('late'))).toHaveLength(3);
      expect(lost).toBeGreaterThanOrEqual(0);
      expect(lost).toBeLessThan(20);
      if (lost > 0) expect(polls.gaps).toContainEqual(expect.objectContaining({ reason: 'ambiguous' }));
    }
  });
});

test('a late line in a log of four words, longer than a tail: 9,979 duplicates and an overrun', () => {
  const word = (index: number) => `GET /health/${((index * 48_271 + 11) % 2_147_483_647) % 4} 200`;
  const random: string[] = [];
  for (let index = 0, state = 1; index < 12_200; index++) {
    state = (state * 48_271) % 2_147_483_647;
    random.push(word(state));
  }
  const polls = new LogPolls();
  const lines = random.slice(0, 12_000);
  polls.poll((tail) => text(lines, tail));
  const before = polls.lines.length;
  for (let poll = 0; poll < 20; poll++) {
    lines.push(...random.slice(12_000 + 10 * poll, 12_010 + 10 * poll));
    if (poll % 10 === 9) lines.splice(-25, 0, `POST /late${poll}`);
    polls.poll((tail) => text(lines, tail), 1_000);
  }
  expect(polls.lines.length - before).toBe(202);
  // Where nothing is late either, so few words are told of.
  expect(polls.gaps.map(({ reason }) => reason)).toEqual(['ambiguous']);
});

describe('small ones', () => {
  test('a service that gives exactly 50 lines is asked again after a restart', () => {
    const [log, polls] = [new LogService({ gives: 50 }), new LogPolls()];
    for (let poll = 0; poll < 6; poll++) {
      log.writeLines(numbered(20, log.lines.length));
      follow(log, polls);
    }
    expect(polls.state.progress.ceiling).toBe(50);
    const again = new LogPolls({ progress: polls.state.progress });
    for (let poll = 0; poll < 3; poll++) {
      follow(log, again);
      expect(again.next.delayMs).toBeGreaterThanOrEqual(1_000);
    }
  });

  test('a clock that is set back an hour holds no line', () => {
    const [log, polls] = [new LogService({ endsLines: false }), new LogPolls()];
    log.writeLines(['a', 'last']);
    follow(log, polls);
    polls.now -= 3_600_000;
    for (let poll = 0; poll < 8; poll++) follow(log, polls, 1_000);
    expect(polls.lines).toEqual(['a', 'last']);
  });

  test('times of records go back with a clock that was ahead, and else never', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    const times = [0, 1_000, -30_000, 1_000, -3_600_000, 1_000].map((wait, poll) => {
      log.writeLines(numbered(10, 10 * poll));
      polls.poll((tail) => log.answer(tail), wait);
      const ahead = Date.parse(polls.records.at(-1)?.time ?? '') - polls.now;
      expect(ahead).toBeLessThanOrEqual(60_000);
      return polls.records.slice(-10).map(({ time }) => time);
    });
    const before = times.slice(0, 4).flat();
    expect(before).toEqual([...new Set(before)].toSorted());
    const after = times.slice(4).flat();
    expect(after).toEqual([...new Set(after)].toSorted());
  });
});
