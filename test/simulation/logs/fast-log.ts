/**
 * A log of so many lines a second that the window slides on with each answer, each line another one: every so many
 * answers are of a backend that lags, every so many lines come late, polls fail, and the process dies and goes on from what
 * was stored. One seed gives one world.
 */
import type { TailAnswer } from '../../../src/logs/tail/answer.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { gapsOf, LogPolls, linesOf } from '../../support/log-polls.ts';
import { LogService } from '../../support/log-service.ts';
import { Random } from '../random.ts';

/** Longer than an answer is kept that told too little. */
const LASTS_MS = 80_000;
/** Lines that a tail holds beside those that join it to what is known. */
const HELD = 8_000;
/** Two polls and what each of them waits for. */
const UNSEEN_MS = 2_600;
const LEAST_RATE = 20;
/** From one writing to the next. */
const STEP_MS = 50;
const CUT: TailAnswer = { kind: 'error', reason: 'the connection was reset', tooLarge: 'perhaps' };
const DOWN: TailAnswer = { kind: 'error', reason: 'status 503' };

/** @returns What was promised and is not so. */
export function brokenPromises(seed: number): readonly string[] {
  const random = new Random(seed);
  const [lagMs, lateMs] = [random.between(100, 3_000), random.between(50, 1_500)];
  const [lagsEach, lateEach] = [Math.floor(random.between(2, 7)), Math.floor(random.between(5, 200))];
  const failing = random.chance(0.5) ? random.between(0, 0.3) : 0;
  const dying = random.chance(0.3) ? random.between(0, 0.1) : 0;
  // Lines a second: what comes before the next answer that is not of that backend, or one of those behind it where polls
  // fail, is no more than a tail holds.
  const most = HELD / ((lagMs + lateMs + UNSEEN_MS) * (failing > 0 ? 3 : 1));
  const rate = Math.round(LEAST_RATE * ((1_000 * most) / LEAST_RATE) ** random.next());
  let answers = 0;
  let written = 0;
  const log = new LogService({
    stale: () => (answers % lagsEach === 0 ? lagMs : 0),
    merged: () => (log.now > 0 && written % lateEach === 0 ? lateMs : 0),
  });
  const write = (count: number) => {
    for (; written < count; written++) log.write(`line ${written} took ${(written * 7) % 1_000} ms\n`);
  };
  const before = Math.floor(random.between(0, 4_000));
  write(before);

  let polls = new LogPolls();
  const records: LogRecord[] = [];
  const shown = new Set<string>();
  const answer = (tail: number): TailAnswer => {
    answers += 1;
    const given = log.answer(tail);
    if (random.chance(failing)) return random.chance(0.5) ? CUT : DOWN;
    for (const { text } of log.shown) shown.add(text);
    return given;
  };
  while (log.now < LASTS_MS) {
    const waitMs = polls.next.delayMs + random.between(0, 300);
    const until = log.now + waitMs;
    for (let at = STEP_MS * Math.ceil(log.now / STEP_MS); at < until; at += STEP_MS) {
      log.now = Math.max(log.now, at);
      write(before + Math.floor((rate * at) / 1_000));
    }
    log.now = until;
    for (const record of polls.poll(answer, waitMs)) records.push(record);
    if (!random.chance(dying)) continue;
    const { now, stored } = polls;
    polls = new LogPolls({ progress: stored });
    polls.now = now;
  }
  log.now += lagMs + lateMs;
  for (let poll = 0; poll < 4; poll++)
    for (const record of polls.poll((tail) => log.answer(tail), 5_000)) records.push(record);

  const [lines, gaps] = [linesOf(records), gapsOf(records)];
  const delivered = new Set(lines);
  const missing = [...shown].filter((line) => !delivered.has(line));
  const broken: string[] = [];
  if (lines.length > delivered.size) broken.push(`${lines.length - delivered.size} lines came twice`);
  // What a gap skipped is counted, and not delivered when another answer shows it later.
  if (missing.length > 0 && gaps.length === 0) broken.push(`${missing.length} were shown, and are missing`);
  if (gaps.length > 0 && failing === 0)
    broken.push(`a gap, and nothing ran over: ${JSON.stringify(gaps[0])}`);
  return broken.map((text) => `seed ${seed}, ${rate} lines/s: ${text}`);
}
