/** A worker that dies and begins anew in the same words, and a log that repeats what the one before it said. */
import { describe, expect, test } from 'vitest';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

const BANNER = Array.from({ length: 14 }, (_, step) => `INFO starting, step ${step} of 14`);
const errors = (life: number, count: number) =>
  Array.from({ length: count }, (_, index) => `ERROR life ${life}: request ${index} failed`);

function follow(log: LogService, polls: LogPolls, waitMs?: number): readonly string[] {
  return linesOf(polls.poll((tail) => log.answer(tail), waitMs));
}

/** One line a second, and then silence, as `lines` are drawn. */
function live(log: LogService, polls: LogPolls, lines: readonly string[], seconds: number): void {
  const end = polls.now + 1_000 * seconds;
  let written = 0;
  while (polls.now + polls.next.delayMs < end) {
    const age = seconds - (end - polls.now - polls.next.delayMs) / 1_000;
    const due = Math.min(lines.length, 1 + Math.floor(age));
    log.writeLines(lines.slice(written, due));
    written = Math.max(written, due);
    follow(log, polls);
  }
}

describe('a worker in a crash loop', () => {
  test.each([15, 25, 45, 90])(
    'lives of %i s that begin alike are delivered, each as a log of its own',
    (seconds) => {
      const [log, polls] = [new LogService(), new LogPolls()];
      for (let life = 0; life < 12; life++) {
        if (life > 0) log.reset();
        log.writeLines(BANNER);
        live(log, polls, errors(life, 8), seconds);
      }
      follow(log, polls, 10_000);
      expect(polls.lines).toEqual(log.written.map(({ text }) => text));
      expect(polls.gaps.map(({ reason }) => reason)).toEqual(Array(11).fill('reset'));
    },
  );

  test('a life that is over before it is known for one is delivered from what was seen of it', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (let life = 0; life < 3; life++) {
      if (life > 0) log.reset();
      log.writeLines([...BANNER, ...errors(life, 3)]);
      follow(log, polls, 1_000);
      if (life === 0) continue;
      log.writeLines([`the last words of ${life}`]);
      follow(log, polls, 1_000);
    }
    for (let poll = 0; poll < 6; poll++) follow(log, polls, 1_000);
    expect(polls.lines).toEqual(log.written.map(({ text }) => text));
    expect(polls.gaps.map(({ reason }) => reason)).toEqual(['reset', 'reset']);
  });

  test('also where what follows it has nothing in common with it', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (const lines of [[...BANNER, 'one'], [...BANNER, 'two'], ['another program']]) {
      log.reset();
      log.writeLines(lines);
      follow(log, polls, 1_000);
    }
    follow(log, polls, 1_000);
    expect(polls.lines).toEqual(log.written.map(({ text }) => text));
  });

  test('one that goes on at length is seen at once, before it slides out of the tail', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    log.writeLines([...BANNER, 'served']);
    follow(log, polls);
    log.reset();
    log.writeLines([...BANNER, ...errors(1, 400)]);
    expect(follow(log, polls)).toEqual(log.lines);
    expect(polls.gaps).toMatchObject([{ reason: 'reset' }]);
  });

  test('one that begins in few words from amid the one before is no older view of it', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    const lines = errors(0, 40);
    log.writeLines(lines);
    follow(log, polls, 1_000);
    log.reset();
    for (const word of [...lines.slice(30, 33), 'and goes on']) {
      log.writeLines([word]);
      expect(follow(log, polls, 1_000)).toEqual([word]);
    }
    expect(polls.gaps).toMatchObject([{ reason: 'reset' }]);
  });

  test('one that says the last words of the one before amid its own does not go on with it', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    const before = errors(0, 60);
    log.writeLines(before);
    follow(log, polls, 1_000);
    log.reset();
    log.writeLines(['boot anew', 'ready', ...before.slice(-5), ...errors(1, 8)]);
    expect(follow(log, polls, 1_000)).toEqual(log.lines);
    expect(polls.gaps).toMatchObject([{ reason: 'reset' }]);
  });

  test('lives in nothing but the same words are told of', () => {
    for (const [seconds, reason] of [
      [50, 'ambiguous'],
      [120, 'reset'],
    ] as const) {
      const [log, polls] = [new LogService(), new LogPolls()];
      const words = Array.from({ length: seconds - 5 }, (_, step) => `step ${step}, then it dies`);
      for (let life = 0; life < 6; life++) {
        if (life > 0) log.reset();
        live(log, polls, words, seconds);
      }
      // One of which the beginning was not seen is not: it looks like a view that lags.
      expect(polls.gaps.length).toBeGreaterThan(3);
      expect(new Set(polls.gaps.map((gap) => gap.reason))).toEqual(new Set([reason]));
      expect(polls.lines).toEqual(reason === 'reset' ? log.written.map(({ text }) => text) : words);
    }
  });
});

test('all of a long log, shown once more after the next one began, is known by its end', () => {
  const [log, polls] = [new LogService(), new LogPolls()];
  log.writeLines(errors(0, 600));
  follow(log, polls);
  const before = log.tail(10_000);
  log.reset();
  log.writeLines(BANNER);
  follow(log, polls);
  // A process that begins anew asks for all there is.
  const again = new LogPolls({ progress: polls.state.progress });
  again.poll(() => ({ kind: 'text', text: before }));
  log.writeLines(['ready']);
  expect(follow(log, again)).toEqual(['ready']);
  expect(again.gaps).toEqual([]);
});

describe('a log that repeats what the one before it said', () => {
  const block = Array.from({ length: 20 }, (_, step) => `worker loop step ${step}: ok`);

  test('is not held for it', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    let written = 0;
    const more = (count: number) =>
      log.writeLines(Array.from({ length: count }, () => block[written++ % 20] ?? ''));
    for (let poll = 0; poll < 200; poll++) {
      more(18);
      follow(log, polls, 1_000);
    }
    log.reset();
    log.writeLines(['boot anew']);
    more(7);
    for (let poll = 0; poll < 6; poll++) follow(log, polls, 1_000);
    for (let poll = 0; poll < 800; poll++) {
      more(18);
      expect(follow(log, polls, 1_000)).toHaveLength(18);
    }
    expect(polls.lines).toEqual(log.written.map(({ text }) => text));
  });

  test('nor after a burst that ran over, from a service that gives few lines', () => {
    const [log, polls] = [new LogService({ gives: 500 }), new LogPolls()];
    let written = 0;
    const more = () => {
      log.writeLines(Array.from({ length: 14 }, () => block[written++ % 20] ?? ''));
      return follow(log, polls, 1_000);
    };
    for (let poll = 0; poll < 100; poll++) more();
    log.writeLines(Array.from({ length: 5_000 }, (_, index) => `burst ${index}`));
    more();
    for (let poll = 0; poll < 700; poll++) expect(more()).toHaveLength(14);
  });

  test('is held for it once, where it says nothing else, and then taken', () => {
    const [log, polls] = [new LogService(), new LogPolls()];
    for (const lines of [block, ['boot anew', 'ready'], block]) {
      if (polls.lines.length > 0) log.reset();
      log.writeLines(lines);
      follow(log, polls);
    }
    const since = polls.now;
    while (polls.lines.length < log.written.length) follow(log, polls, 1_000);
    expect(polls.now - since).toBe(60_000);
    for (let poll = 0; poll < 100; poll++) {
      log.writeLines([block[poll % 20] ?? '']);
      expect(follow(log, polls, 1_000)).toHaveLength(1);
    }
    expect(polls.lines).toEqual(log.written.map(({ text }) => text));
  });
});
