/** What is asked for, and when: the unit of `tail`, the pace, sizes that do not come through, files that are wiped. */
import { describe, expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/answer.ts';
import { expectedLength, tailNow } from '../../../../src/logs/follower/group.ts';
import { LogPolls } from '../../../support/log-polls.ts';
import { LogService, type LogServiceOptions } from '../../../support/log-service.ts';

const line = (index: number) => `INFO request ${index} took ${(index * 7919) % 1_000} ms on gpu ${index % 8}`;

/** A log that grows while it is followed. */
class Growing {
  readonly log: LogService;
  readonly polls = new LogPolls();
  readonly asked: number[] = [];
  lines = 0;
  /** Bytes of answers. */
  fetched = 0;
  /** Fails instead of an answer that is larger, bytes. */
  most = Infinity;
  line = line;
  failure: TailAnswer = { kind: 'error', reason: 'the connection was reset', tooLarge: 'perhaps' };

  constructor(options: LogServiceOptions = {}) {
    this.log = new LogService(options);
  }

  write(count: number): void {
    for (let index = 0; index < count; index++) this.log.writeLines([this.line(this.lines++)]);
  }

  /** Follows for a time in which so many lines are written per second. */
  pass(seconds: number, perSecond: number): void {
    const end = this.polls.now + 1_000 * seconds;
    let owed = 0;
    while (this.polls.now < end) {
      const waitMs = Math.max(50, this.polls.next.delayMs);
      owed += (waitMs * perSecond) / 1_000;
      this.write(Math.floor(owed));
      owed %= 1;
      this.polls.poll((tail) => this.answer(tail), waitMs);
    }
  }

  answer(tail: number): TailAnswer {
    this.asked.push(tail);
    const answer = this.log.answer(tail);
    if (answer.kind !== 'text') return answer;
    if (answer.text.length > this.most) return this.failure;
    this.fetched += answer.text.length;
    return answer;
  }

  expectAll(): void {
    expect(this.polls.gaps).toEqual([]);
    expect(this.polls.lines).toEqual(Array.from({ length: this.lines }, (_, index) => this.line(index)));
  }
}

describe('the unit of tail', () => {
  test('is not asked for while the log is short', () => {
    const growing = new Growing();
    growing.write(3);
    growing.pass(60, 0);
    expect(new Set(growing.asked)).toEqual(new Set([100_000]));
    expect(growing.polls.state.progress.unit).toBeUndefined();
  });

  test.each([
    ['x'.repeat(60), undefined],
    ['x'.repeat(61), 'bytes'],
    ['x'.repeat(72), 'bytes'],
    ['x'.repeat(73), 'lines'],
    [`${'\n'.repeat(62)}x`, 'bytes'],
    [`${'\n'.repeat(63)}x`, undefined],
  ])('is told by an answer to a question for 64 of it: %j', (text, unit) => {
    const polls = new LogPolls();
    polls.poll((tail) => ({ kind: 'text', text: tail === 64 ? text : 'x'.repeat(1_001) }));
    expect(polls.state.progress.unit).toBe(unit);
  });

  test('is learned again when a service changes its mind', () => {
    const growing = new Growing();
    growing.write(200);
    growing.pass(30, 10);
    const bytes = new LogService({ unit: 'bytes' });
    bytes.writeLines(growing.log.lines);
    const next = (service: LogService) => {
      service.writeLines([line(growing.lines++)]);
      growing.polls.poll((tail) => service.answer(tail));
    };
    for (let poll = 0; poll < 20; poll++) next(bytes);
    expect(growing.polls.state.progress.unit).toBe('bytes');
    const lines = new LogService();
    lines.writeLines(bytes.lines);
    for (let poll = 0; poll < 20; poll++) next(lines);
    expect(growing.polls.state.progress.unit).toBe('lines');
    growing.expectAll();
  });

  test('is asked for again if the short question failed', () => {
    const growing = new Growing();
    growing.write(200);
    growing.polls.poll((tail) => (tail === 64 ? growing.failure : growing.answer(tail)));
    expect(growing.polls.state.progress.unit).toBeUndefined();
    growing.pass(55, 1);
    expect(growing.asked.filter((tail) => tail === 64)).toEqual([]);
    growing.pass(60, 1);
    expect(growing.polls.state.progress.unit).toBe('lines');
    growing.expectAll();
  });
});

describe('the pace', () => {
  test('is 2 s while lines come, and 30 s when it is quiet', () => {
    const growing = new Growing();
    growing.pass(60, 5);
    expect(growing.polls.next.delayMs).toBe(2_000);
    growing.pass(300, 0);
    expect(growing.polls.next.delayMs).toBe(30_000);
  });

  test.each(['lines', 'bytes'] as const)('in %s, falls back within a minute after a burst', (unit) => {
    const growing = new Growing({ unit });
    growing.write(200);
    growing.pass(60, 1);
    const before = growing.polls.next.tail;
    growing.pass(5, 2_000);
    expect(growing.polls.next.tail).toBeGreaterThan(20 * before);
    growing.pass(60, 1);
    expect(growing.polls.next.tail).toBeLessThan(4 * before);
    growing.expectAll();
  });

  test.each(['lines', 'bytes'] as const)(
    'in %s, of lines of 40 KB: fetches at most four times what is new, and 20 KB a poll',
    (unit) => {
      const growing = new Growing({ unit });
      growing.line = (index) => `${index} ${'x'.repeat(40_000)}`;
      growing.pass(60, 0.5);
      const { fetched, lines, asked } = growing;
      const polls = asked.length;
      growing.pass(120, 0.5);
      expect(growing.fetched - fetched).toBeLessThan(
        4 * 40_000 * (growing.lines - lines) + 20_000 * (asked.length - polls),
      );
      growing.expectAll();
    },
  );

  test('asks for more if the turn comes late', () => {
    const growing = new Growing();
    growing.write(100);
    growing.pass(30, 50);
    const { state, next, now } = growing.polls;
    expect(tailNow(state, next, now + next.delayMs)).toBe(next.tail);
    expect(tailNow(state, next, now + 60_000)).toBeGreaterThan(60 * 50);
    expect(expectedLength(state, next.tail)).toBeGreaterThan(next.tail);
  });
});

describe('an answer that is too large', () => {
  test.each([
    ['as the service says', 'surely'],
    ['as it seems, since it is cut or late', 'perhaps'],
  ] as const)('%s: less is asked for, and nothing is lost', (_name, tooLarge) => {
    const growing = new Growing();
    growing.failure = { kind: 'error', reason: 'too large', tooLarge };
    growing.write(200);
    growing.pass(20, 1);
    growing.most = 40_000;
    growing.pass(600, 20);
    growing.expectAll();
  });

  test('from the first question on: the newest lines come, and a gap stands for the others', () => {
    const growing = new Growing();
    growing.failure = { kind: 'error', reason: 'too large', tooLarge: 'surely' };
    growing.write(2_000);
    growing.most = 20_000;
    growing.pass(60, 1);
    expect(growing.polls.gaps).toEqual([{ reason: 'overrun', lost_min: 0, lost_estimate: null }]);
    expect(growing.polls.lines.length).toBeGreaterThan(200);
    expect(growing.polls.lines.at(-1)).toBe(line(growing.lines - 1));
  });

  test.each([6_000, 12_000])('of more than %d bytes is cut: after a burst the newest lines come', (most) => {
    const growing = new Growing();
    growing.most = most;
    growing.write(20);
    growing.pass(60, 3);
    growing.write(6_000);
    growing.pass(60, 3);
    expect(growing.polls.gaps).toMatchObject([{ reason: 'overrun' }]);
    expect(growing.polls.lines.at(-1)).toBe(line(growing.lines - 1));
  });

  test('is tried again later', () => {
    const growing = new Growing();
    growing.write(200);
    growing.pass(20, 1);
    growing.most = 3_000;
    growing.pass(60, 30);
    growing.most = Infinity;
    growing.pass(120, 30);
    const { gaps } = growing.polls;
    growing.pass(60, 100);
    expect(growing.polls.gaps).toEqual(gaps);
    expect(growing.polls.lines.slice(-6_000)).toEqual(
      Array.from({ length: 6_000 }, (_, index) => line(growing.lines - 6_000 + index)),
    );
  });

  test.each([0, 1, 2])('nor when every third poll fails, whichever it is: %d', (phase) => {
    const growing = new Growing();
    let polls = phase;
    const failing: TailAnswer = { kind: 'error', reason: 'status 503' };
    growing.write(80);
    for (let poll = 0; poll < 60; poll++) {
      growing.polls.poll((tail) => (++polls % 3 === 0 ? failing : growing.answer(tail)));
      if (poll === 3) growing.write(6_000);
    }
    growing.expectAll();
  });
});

test('a file that is wiped when it is full is asked for more often when it is nearly full', () => {
  const growing = new Growing({ fileBytes: 32_768 });
  growing.pass(300, 20);
  const waits = new Map<boolean, number>();
  for (let poll = 0; poll < 200; poll++) {
    growing.pass(0.1, 20);
    const isNear = (growing.polls.state.progress.streams['']?.size ?? 0) > 31_500;
    waits.set(isNear, Math.max(waits.get(isNear) ?? 0, growing.polls.next.delayMs));
  }
  expect(waits.get(false)).toBe(2_000);
  expect(waits.get(true)).toBeLessThan(1_500);
});

describe('errors', () => {
  const failing = (answer: TailAnswer) => {
    const polls = new LogPolls();
    return (seconds: number) => {
      polls.poll(() => answer, 1_000 * seconds);
      return polls;
    };
  };

  test('of a group that the service does not know yet are none for five minutes', () => {
    const fail = failing({ kind: 'error', reason: 'not a log: … not found', notFound: true });
    expect(fail(1)).toMatchObject({ next: { delayMs: 5_000 }, state: { failures: 0 } });
    expect(fail(290).state.failures).toBe(0);
    expect(fail(20).state.failures).toBe(1);
  });

  test('of a group that was followed are errors at once', () => {
    const polls = new LogPolls();
    polls.poll(() => ({ kind: 'text', text: 'a\n' }));
    polls.poll(() => ({ kind: 'error', reason: 'not a log: … not found', notFound: true }));
    expect(polls.state.failures).toBe(1);
  });
});

test('lines of 100 KB that stop coming are not doubted later', () => {
  const growing = new Growing();
  growing.line = (index) => `${index} ${'x'.repeat(100_000)}`;
  growing.pass(120, 0.5);
  growing.pass(200, 0);
  growing.expectAll();
});

test('a service that answers with levels in place of one text, and back, repeats no line', () => {
  const all = Array.from({ length: 120 }, (_, index) => line(index));
  const text = (count: number) => `${all.slice(0, count).join('\n')}\n`;
  const polls = new LogPolls();
  polls.poll(() => ({ kind: 'text', text: text(40) }));
  for (const count of [80, 100]) polls.poll(() => ({ kind: 'levels', levels: { info0: text(count) } }));
  polls.poll(() => ({ kind: 'text', text: text(120) }));
  expect(polls.lines).toEqual(all);
  expect(polls.gaps).toEqual([]);
});
