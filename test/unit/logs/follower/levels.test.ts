/** A service that answers with levels: each is a file that grows in its own way, and one `tail` is for all. */
import { expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/answer.ts';
import { gapsOf, LogPolls } from '../../../support/log-polls.ts';
import { LogService, type LogServiceOptions } from '../../../support/log-service.ts';

interface Level extends LogServiceOptions {
  readonly perSecond: number;
  /** Characters of its lines. */
  readonly width?: number;
  /** Lines that are there before the first answer. */
  readonly before?: number;
}

/** Levels that grow while they are followed. */
class GrowingLevels {
  readonly polls = new LogPolls();
  readonly logs: Readonly<Record<string, LogService>>;
  readonly #levels: Readonly<Record<string, Level>>;
  readonly #owed = new Map<string, number>();
  fetched = 0;
  written = 0;
  rounds = 0;

  constructor(levels: Readonly<Record<string, Level>>) {
    this.#levels = levels;
    this.logs = Object.fromEntries(Object.entries(levels).map(([name, of]) => [name, new LogService(of)]));
    for (const [name, { before = 0 }] of Object.entries(levels)) this.#write(name, before);
  }

  pass(seconds: number): void {
    const end = this.polls.now + 1_000 * seconds;
    while (this.polls.now < end) this.wait(Math.max(50, this.polls.next.delayMs));
  }

  wait(ms: number): void {
    for (const [name, { perSecond }] of Object.entries(this.#levels)) {
      const owed = (this.#owed.get(name) ?? 0) + (ms * perSecond) / 1_000;
      this.#owed.set(name, owed % 1);
      this.#write(name, Math.floor(owed));
    }
    this.rounds += 1;
    this.polls.poll((tail) => this.#answer(tail), ms);
  }

  /** Of a level: lines that were written, were not delivered, and that gaps say were lost. */
  count(name: string) {
    const records = this.polls.records.filter(({ level }) => level === name);
    const gaps = gapsOf(records);
    const { written } = this.logs[name] ?? new LogService();
    const lost = written.length - (records.length - gaps.length);
    return { lost, told: gaps.reduce((sum, gap) => sum + (gap.lost_estimate ?? 0), 0), gaps: gaps.length };
  }

  #write(name: string, count: number): void {
    const log = this.logs[name];
    for (let index = 0; index < count; index++) {
      const text = `${name} ${log?.written.length} `.padEnd(this.#levels[name]?.width ?? 60, 'x');
      log?.writeLines([text]);
      this.written += text.length + 1;
    }
  }

  #answer(tail: number): TailAnswer {
    const texts = Object.entries(this.logs).map(([name, log]) => [name, log.tail(tail)] as const);
    for (const [, text] of texts) this.fetched += text.length;
    return { kind: 'levels', levels: Object.fromEntries(texts) };
  }
}

test('the unit is not taken from a level that is shorter than the question', () => {
  const growing = new GrowingLevels({ info1: { perSecond: 0.3, width: 5 }, debug: { perSecond: 5 } });
  const units = new Set<string | undefined>();
  for (let poll = 0; poll < 40; poll++) {
    growing.wait(1_000);
    units.add(growing.polls.state.progress.unit);
  }
  expect(units).toEqual(new Set([undefined, 'lines']));
});

test('long lines beside a long log of short ones are asked for once a poll', () => {
  const bytes = { unit: 'bytes' } as const;
  const growing = new GrowingLevels({
    info1: { ...bytes, perSecond: 1, width: 20, before: 5_000 },
    debug: { ...bytes, perSecond: 10, width: 2_000 },
  });
  growing.pass(100);
  expect(growing.polls.polls - growing.rounds).toBeLessThan(10);
  expect([growing.count('info1'), growing.count('debug')]).toEqual([
    { lost: 0, told: 0, gaps: 0 },
    { lost: 0, told: 0, gaps: 0 },
  ]);
});

test('levels that grow alike: at most four times what is new is fetched, and 20 KB a poll', () => {
  const level = { unit: 'bytes', perSecond: 5, width: 800 } as const;
  const growing = new GrowingLevels({ info1: level, trace: level, debug: level });
  growing.pass(60);
  const [fetched, written, rounds] = [growing.fetched, growing.written, growing.rounds];
  growing.pass(300);
  const most = 4 * (growing.written - written) + 20_000 * (growing.rounds - rounds);
  expect(growing.fetched - fetched).toBeLessThan(most);
});

test('unlike lines of a level are told apart, however short those of another are', () => {
  const bytes = { unit: 'bytes' } as const;
  const growing = new GrowingLevels({
    info1: { ...bytes, perSecond: 1, width: 20 },
    debug: { ...bytes, perSecond: 0.12, width: 200_000 },
  });
  growing.pass(90);
  expect(growing.polls.gaps).toEqual([]);
});

test('a file that is wiped is told with the losses of its own level', () => {
  const growing = new GrowingLevels({
    info1: { unit: 'bytes', perSecond: 2, fileBytes: 8_192 },
    debug: { unit: 'bytes', perSecond: 40, fileBytes: 65_536 },
  });
  growing.pass(900);
  for (const { lost, told, gaps } of [growing.count('info1'), growing.count('debug')]) {
    expect(gaps).toBeGreaterThan(10);
    expect(told).toBeGreaterThan(lost / 2 - gaps);
    expect(told).toBeLessThan(2 * lost + gaps);
  }
});

test('files that are filled and wiped between two answers are told too', () => {
  const growing = new GrowingLevels({ info1: { unit: 'bytes', perSecond: 10, fileBytes: 10_000 } });
  growing.pass(400);
  while ((growing.polls.state.progress.streams['info1']?.size ?? 0) < 7_500) growing.pass(1);
  const before = growing.count('info1');
  growing.wait(300_000);
  const after = growing.count('info1');
  expect(after.lost - before.lost).toBeGreaterThan(2_500);
  expect(after.told - before.told).toBeGreaterThan((after.lost - before.lost) / 2);
  expect(after.told - before.told).toBeLessThan(2 * (after.lost - before.lost));
});
