/**
 * The gate: in realistic worlds nothing shown is lost or doubled, in whatever unit the service counts. Each world has one
 * of the units in `npm test`, and all of them in `npm run test:long -- logs`.
 */
import { describe, expect, test } from 'vitest';
import {
  advance,
  beginGroup,
  firstPoll,
  tailNow,
  type GroupProgress,
} from '../../../src/logs/follower/group.ts';
import type { TailAnswer } from '../../../src/logs/answer.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { LogService } from '../../support/log-service.ts';
import { gapsOf, linesOf } from '../../support/log-polls.ts';
import { isLong } from '../../support/long.ts';
import { Random } from '../random.ts';
import { examine, shown } from './oracle.ts';
import { FIGURES, WORLDS, type Unit, type World } from './worlds.ts';

const UNITS = ['lines', 'bytes', 'characters'] as const;
const ROUND_TRIP_MS = 100;
const STEP_MS = 100;
const BEGINNING = 1_700_000_000_000;
/** Polls after it has ended, at their own pace. */
const LAST_POLLS = 14;
/** It may as well have been too large. */
const DOWN: TailAnswer = { kind: 'error', reason: 'the connection was reset', tooLarge: 'perhaps' };

function follow(world: World, unit: Unit) {
  const random = new Random(7);
  const log: LogService = new LogService({ unit, ...world.service?.(random, () => log.now) });
  log.now = BEGINNING;
  let written = 0;
  const pass = (until: number): void => {
    for (; BEGINNING + (written + 1) * STEP_MS <= until && written < 10 * world.seconds; written++) {
      log.now = BEGINNING + written * STEP_MS;
      world.write(log, written / 10, random);
    }
    log.now = until;
  };
  let state = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all' });
  let next = firstPoll(state);
  let stored: GroupProgress | undefined;
  let killedAt = BEGINNING;
  const records: LogRecord[] = [];
  let [polls, bytes, rest] = [0, 0, LAST_POLLS];
  for (let now = BEGINNING; rest > 0; polls++) {
    now += Math.max(10, next.delayMs) + 1_000 * (world.turnSeconds ?? 0);
    const at = (now - BEGINNING) / 1_000;
    if (at > world.seconds) rest -= 1;
    const tail = tailNow(state, next, now - 1_000 * (world.turnSeconds ?? 0));
    pass(now);
    const answer = world.isDown?.(at) ? DOWN : log.answer(tail);
    if (answer.kind === 'text') bytes += answer.text.length;
    now += ROUND_TRIP_MS;
    pass(now);
    const roundTripMs = ROUND_TRIP_MS + 1_000 * (world.turnSeconds ?? 0);
    const step = advance(state, { answer, tail, now, roundTripMs, random: 0.5 });
    for (const record of step.records) records.push(record);
    ({ state, next } = step);
    if (step.moved) stored = state.progress;
    if (world.killSeconds !== undefined && now - killedAt > 1_000 * world.killSeconds) {
      killedAt = now;
      state = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all', progress: stored });
      next = firstPoll(state);
    }
  }
  const truth = log.written.map(({ text }) => ({ text: shown(text.replace(/\r$/, '')) }));
  return { records, truth, state, polls, bytes };
}

describe.each(UNITS)('tail counts %s:', (unit) => {
  const own = WORLDS.filter((_, index) => isLong || UNITS[index % UNITS.length] === unit);
  test.each(own)('$name', (world) => {
    const { records, truth, state, polls, bytes } = follow(world, unit);
    const { silent, twice, torn, lost } = examine(records, truth);
    const gaps = gapsOf(records);
    const told = gaps.reduce((sum, { lost_estimate: one }) => sum + (one ?? 0), 0);
    if (UNITS[WORLDS.indexOf(world) % UNITS.length] === unit)
      expect([polls, bytes, told]).toEqual(FIGURES[world.name]);
    const isAmbiguous = world.hasEqualLines && gaps.some(({ reason }) => reason === 'ambiguous');
    expect({ silent: isAmbiguous ? [] : silent, torn }).toEqual({ silent: [], torn: [] });
    expect(twice.length).toBeLessThanOrEqual(gaps.length > 0 ? (world.mostTwice ?? 0) : 0);
    expect(lost).toBeLessThanOrEqual(world.mostLost ?? 0);
    if (world.mostLost === undefined && !isAmbiguous) expect(gaps).toEqual([]);
    // Lines of 100 KB are fewer than the probe needs.
    if (state.progress.unit !== undefined)
      expect(state.progress.unit).toBe(unit === 'lines' ? 'lines' : 'bytes');
    if (lost > 10 && gaps.every(({ lost_estimate: one }) => one !== null)) {
      expect(told).toBeGreaterThan(lost / 2);
      expect(told).toBeLessThan(lost * 2);
    }
    const fresh = linesOf(records).reduce((sum, line) => sum + line.length + 1, 0);
    if (world.name.endsWith('lines/s')) expect(bytes).toBeLessThan(4 * fresh + 20_000 * polls);
  });
});
