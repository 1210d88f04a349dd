/** An answer tells too little, more is asked for, and does not come through; by the next poll the log has moved on. */
import { describe, expect, test } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { gapsOf, LogPolls, linesOf } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

/** A log of which 200 lines fit into an answer, followed until that is known. */
function limitedLog(tooLarge: 'surely' | 'perhaps') {
  const log = new LogService({ byteLimit: 20_000 });
  let polls = new LogPolls();
  const records: LogRecord[] = [];
  const shown: string[] = [];
  const write = (count: number) => {
    const from = log.lines.length;
    log.writeLines(Array.from({ length: count }, (_, index) => `line ${from + index}`.padEnd(99, '.')));
  };
  const poll = () => {
    const fresh = polls.poll((tail) => {
      const answer = log.answer(tail);
      shown.push(...log.shown.map(({ text }) => text));
      return answer.kind === 'error' ? { ...answer, tooLarge } : answer;
    });
    records.push(...fresh);
    return linesOf(fresh);
  };
  /** Another process goes on from what is on disk. @returns Answers that the one before kept. */
  const die = () => {
    const { now, stored } = polls;
    polls = new LogPolls({ progress: stored });
    polls.now = now;
    return stored?.unsettled?.length ?? 0;
  };
  write(600);
  for (let second = 0; second < 20; second++) {
    write(5);
    poll();
  }
  shown.length = 0;
  return { records, shown, write, poll, die };
}

test.each(['surely', 'perhaps'] as const)(
  'bursts of more than an answer holds, one before each poll: where more is %s too much, all that was shown is delivered',
  (tooLarge) => {
    const { records, shown, write, poll } = limitedLog(tooLarge);
    for (let burst = 0; burst < 8; burst++) {
      write(400);
      poll();
    }
    for (let rest = 0; rest < 8; rest++) poll();
    const lines = linesOf(records);
    expect(lines).toHaveLength(new Set(lines).size);
    expect(shown.filter((line) => !lines.includes(line))).toEqual([]);
    expect(gapsOf(records).length).toBeGreaterThan(3);
  },
);

test('a process that dies while more is asked for: the next one delivers what was shown', () => {
  const { records, shown, write, poll, die } = limitedLog('perhaps');
  const kept: number[] = [];
  for (let burst = 0; burst < 8; burst++) {
    write(400);
    poll();
    kept.push(die());
  }
  for (let rest = 0; rest < 8; rest++) poll();
  const lines = linesOf(records);
  expect(lines).toHaveLength(new Set(lines).size);
  expect(shown.filter((line) => !lines.includes(line))).toEqual([]);
  expect(Math.max(...kept)).toBeGreaterThan(1);
  // What was taken is kept no longer.
  expect(die()).toBe(0);
});

test('what is surely too much is not waited for: a process that dies then has delivered what it was shown', () => {
  const { shown, write, poll } = limitedLog('surely');
  for (let burst = 0; burst < 4; burst++) {
    write(400);
    expect(poll().at(-1)).toBe(shown.at(-1));
  }
});

const CUT = { kind: 'error', reason: 'connection failed (reset)', tooLarge: 'perhaps' } as const;

/** A log without a limit, shown by a service whose answers fail where `fails` has an F. */
function flakyLog(fails: string) {
  const log = new LogService();
  const polls = new LogPolls();
  const shown: string[] = [];
  let asked = 0;
  const write = (count: number) =>
    log.writeLines(Array.from({ length: count }, (_, index) => `line ${log.lines.length + index}`));
  const answer = (tail: number) => {
    if (fails[asked++] === 'F') return CUT;
    const given = log.answer(tail);
    shown.push(...log.shown.map(({ text }) => text));
    return given;
  };
  return { log, polls, shown, write, answer, left: () => fails.length - asked };
}

describe('no lines are given up for a size that may be an outage', () => {
  test.each([
    ['every second answer fails', 'FFFFFFF.F.F.F.F.'],
    ['twice a wide one fails, and a shorter one comes through', 'FFFFFFF.F.FF.F.'],
  ])('%s', (_, fails) => {
    for (const burst of [4, 40]) {
      const { log, polls, write, answer, left } = flakyLog('.'.repeat(20) + fails);
      while (left() > -20) {
        write(left() > 20 ? 4 : burst);
        polls.poll(answer);
      }
      expect(polls.gaps).toEqual([]);
      expect(polls.lines).toEqual(log.lines);
    }
  });

  test('nor where the log is first seen at its end', () => {
    const { log, polls, write, answer } = flakyLog('FFFFFFF.F.FF.F.');
    write(3_000);
    for (let poll = 0; poll < 30; poll++) polls.poll(answer);
    expect(polls.gaps).toEqual([]);
    expect(polls.lines).toEqual(log.lines);
  });
});

describe('what a short answer showed is kept beside a wider one that comes later, and reaches less far back', () => {
  test('after another failure', () => {
    const { polls, shown, write, answer } = flakyLog(`${'.'.repeat(20)}FFFF.FF`);
    for (let poll = 0; poll < 20; poll++) {
      write(10);
      polls.poll(answer);
    }
    write(400);
    while (polls.state.progress.unsettled === undefined) polls.poll(answer);
    write(20_000);
    for (let poll = 0; poll < 8; poll++) polls.poll(answer);
    const lines = new Set(polls.lines);
    expect(shown.filter((line) => !lines.has(line))).toEqual([]);
  });

  test('in another process', () => {
    const { polls, shown, write, answer } = flakyLog(`${'.'.repeat(20)}FFFF.F`);
    for (let poll = 0; poll < 20; poll++) {
      write(10);
      polls.poll(answer);
    }
    write(400);
    while (polls.state.progress.unsettled === undefined) polls.poll(answer);
    const again = new LogPolls({ progress: polls.stored });
    again.now = polls.now;
    write(20_000);
    for (let poll = 0; poll < 8; poll++) again.poll(answer);
    const lines = new Set([...polls.lines, ...again.lines]);
    expect(shown.filter((line) => !lines.has(line))).toEqual([]);
  });
});

test('what a short answer showed stands in a wider one, with late lines in it by then: it is delivered once', () => {
  const polls = new LogPolls();
  const line = (index: number) => `line ${index}\n`;
  const all = Array.from({ length: 14_000 }, (_, index) => line(index));
  const show = (lines: readonly string[]) => (tail: number) =>
    ({ kind: 'text', text: lines.slice(-tail).join('') }) as const;
  polls.poll(show(all.slice(0, 1_000)));
  const without = all.slice(0, 5_000).filter((_, index) => index % 60 !== 50);
  let asked = 0;
  polls.poll((tail) => (asked++ === 0 ? show(without)(tail) : CUT));
  expect(polls.state.progress.unsettled).toHaveLength(1);
  polls.poll(show(all));
  expect(polls.gaps.map(({ reason }) => reason)).toEqual(['overrun']);
  // The first line of a full answer may be cut.
  expect(polls.lines.map((text) => `${text}\n`)).toEqual([...all.slice(0, 1_000), ...all.slice(4_001)]);
});

test('after an outage a wider answer comes from a backend that lags: late lines above a shorter one are delivered', () => {
  const polls = new LogPolls();
  const all: string[] = [];
  const show = (lines: readonly string[]) => (tail: number) =>
    ({ kind: 'text', text: lines.slice(-tail).join('') }) as const;
  const write = () => {
    for (let count = 0; count < 700; count++) all.push(`line ${all.length}\n`);
  };
  for (let second = 0; second < 20; second++) {
    write();
    polls.poll(show(all), 1_000);
  }
  const usual = polls.next.tail;
  for (let failure = 0; failure < 3; failure++) polls.poll(() => CUT, 100);
  write();
  const late = all.slice(0, -300).toSpliced(-5_000, 0, 'late\n');
  const asked: number[] = [];
  polls.poll((tail) => (asked.push(tail) === 1 ? show(all)(tail) : show(late)(tail)), 100);
  expect(asked).toEqual([usual / 2, usual]);
  expect(polls.lines.toSorted()).toEqual([...all, 'late'].map((line) => line.trimEnd()).toSorted());
  expect(polls.gaps).toEqual([]);
});

describe('a log that is seen in part, as polls fail, and another one after it', () => {
  /** A log that ended; of 400 lines that came meanwhile, or of the next log, only the end is shown. */
  function partlyShown(isNext: boolean) {
    const flaky = flakyLog(`${'.'.repeat(20)}FFFF.FFF`);
    const { log, polls, write, answer } = flaky;
    for (let poll = 0; poll < 20; poll++) {
      write(10);
      polls.poll(answer);
    }
    if (isNext) log.reset();
    log.writeLines(Array.from({ length: 400 }, (_, index) => `more ${index}`));
    while (polls.state.progress.unsettled === undefined) polls.poll(answer);
    if (!isNext) log.reset();
    log.writeLines(Array.from({ length: 30 }, (_, index) => `last ${index}`));
    for (let poll = 0; poll < 8; poll++) polls.poll(answer);
    return flaky;
  }

  test('what was shown of the one that ended is delivered', () => {
    const { polls, shown } = partlyShown(false);
    expect(polls.lines).toEqual([...new Set(shown)]);
    expect(polls.gaps.map(({ reason }) => reason)).toEqual(['overrun', 'reset']);
  });

  test('what was shown of the one that began stands in it', () => {
    const { log, polls } = partlyShown(true);
    expect(polls.lines).toEqual(log.written.map(({ text }) => text));
    expect(polls.gaps.map(({ reason }) => reason)).toEqual(['reset']);
  });
});

describe('a wider answer, asked for at once, comes from a backend that lags', () => {
  /** A log of which the end was shown, which does not reach back to what is known, and then an older view. */
  function lagging() {
    const log = new LogService();
    const polls = new LogPolls();
    const write = (count: number) =>
      log.writeLines(Array.from({ length: count }, (_, index) => `line ${log.lines.length + index}`));
    write(200);
    polls.poll((tail) => log.answer(tail));
    write(10);
    const older = log.answer(10_000);
    write(300);
    const asked: number[] = [];
    polls.poll((tail) => (asked.push(tail) > 1 ? older : log.answer(tail)));
    expect(asked).toEqual([200, 10_000]);
    expect(polls.lines).toEqual(log.lines.slice(0, 210));
    return { log, polls, write, older };
  }

  test('where the next one shows what stands between, nothing is lost', () => {
    const { log, polls } = lagging();
    for (let poll = 0; poll < 3; poll++) polls.poll((tail) => log.answer(tail));
    expect(polls.gaps).toEqual([]);
    expect(polls.lines).toEqual(log.lines);
    expect(polls.state.progress.unsettled).toBeUndefined();
  });

  test('where no more comes through, what the first one showed is delivered', () => {
    const { log, polls, write } = lagging();
    write(400);
    const shown = new Set([...log.lines.slice(0, 210), ...log.lines.slice(311, 510)]);
    const answer = (tail: number) => {
      if (tail > 200) return { ...CUT, tooLarge: 'surely' } as const;
      const given = log.answer(tail);
      for (const { text } of log.shown) shown.add(text);
      return given;
    };
    for (let poll = 0; poll < 8; poll++) polls.poll(answer);
    expect(polls.gaps.map(({ reason }) => reason)).toEqual(['overrun', 'overrun']);
    expect(polls.lines).toEqual([...shown]);
    // Both were of the same moment: that says nothing of a rate, by which the next gap is estimated.
    expect(polls.gaps.at(-1)?.lost_estimate).toBeLessThan(1_000);
  });

  test('where late lines come to stand within it meanwhile, nothing of it is delivered again', () => {
    let [answers, lines] = [0, 0];
    const log = new LogService({
      stale: () => (++answers % 2 === 0 ? 1_000 : 0),
      merged: () => (lines % 20 === 0 ? 400 : 0),
    });
    const polls = new LogPolls();
    const kept = new Set<unknown>();
    for (let second = 0; second < 75; second++) {
      for (let step = 1; step <= 20; step++) {
        log.now = 1_000 * second + 50 * step;
        while (lines < 100 * (20 * second + step)) log.write(`line ${lines++}\n`);
      }
      polls.poll((tail) => log.answer(tail), 1_000);
      kept.add(polls.state.progress.unsettled?.length);
    }
    expect(polls.gaps).toEqual([]);
    expect(polls.lines).toHaveLength(new Set(polls.lines).size);
    // There was something to keep, and it was let go.
    expect(kept).toContain(1);
    expect(polls.state.progress.unsettled).toBeUndefined();
  });

  test('where nothing goes on to it, it is delivered after a minute', () => {
    const { log, polls, older } = lagging();
    for (let poll = 0; poll < 8; poll++) polls.poll(() => older, 10_000);
    expect(polls.gaps.map(({ reason }) => reason)).toEqual(['overrun']);
    expect(polls.lines).toEqual([...log.lines.slice(0, 210), ...log.lines.slice(311)]);
  });
});

test('what one level showed is kept while more is asked for another one, and that shows an older view of the first', () => {
  const polls = new LogPolls();
  const log = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name} ${at}\n`);
  const levels = (info: readonly string[], warn: readonly string[]) => (tail: number) =>
    ({
      kind: 'levels',
      levels: { info: info.slice(-tail).join(''), warn: warn.slice(-tail).join('') },
    }) as const;
  polls.poll(levels(log('info', 400), log('warn', 400)));
  const shown = levels(log('info', 380), log('warn', 401));
  const later = levels(log('info', 400), log('warn', 400));
  let asked = 0;
  polls.poll((tail) => (asked++ === 0 ? shown : later)(tail));
  expect(asked).toBe(2);
  // Both begin anew before they are asked again.
  polls.poll(levels(['info anew\n'], ['warn anew\n']));
  expect(polls.lines.filter((line) => line === 'warn 400')).toEqual(['warn 400']);
});
