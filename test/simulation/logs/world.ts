/**
 * One schedule: a real log, shown by a service that does one or two things wrong, and followed by the state machine, which
 * dies now and then and goes on from what was stored. One seed gives one world.
 */
import { advance, beginGroup, firstPoll, type GroupProgress } from '../../../src/logs/follower/group.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import type { WrittenLine } from '../../support/log-service.ts';
import { Random } from '../random.ts';
import { BEGINNING, FaultyLog, type Fault } from './faulty-log.ts';
import { examine, shown, type Truth } from './oracle.ts';

export interface Schedule {
  readonly seed: number;
  readonly faults: readonly Fault[];
}

/** A follower, or one that is broken on purpose. */
export type Advance = typeof advance;

/** Virtual milliseconds. */
const LASTS_MS = 180_000;
/** At the end it is honest, until so many answers in a row brought nothing. */
const HONEST_POLLS = 8;
const MOST_HONEST_POLLS = 60;
const REST_MS = 10_000;
/** Questions at once; more are a loop without end. */
const MOST_AT_ONCE = 40;

/** What is not as it was promised; the kind comes first. */
export function play({ seed, faults }: Schedule, step: Advance = advance): readonly string[] {
  const random = new Random(seed);
  const log = new FaultyLog(faults, random);
  const { service } = log;
  service.now = BEGINNING;
  let stored: GroupProgress | undefined;
  let state = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all' });
  let next = firstPoll(state);
  const records: LogRecord[] = [];
  let isEndless = false;
  const stood = new Set<WrittenLine>();

  let [restPolls, quiet] = [0, 0];
  while (restPolls < MOST_HONEST_POLLS && quiet < HONEST_POLLS) {
    const isOver = service.now > BEGINNING + LASTS_MS;
    if (isOver) {
      log.end();
      restPolls += 1;
    }
    log.writeUntil(service.now + Math.ceil(Math.max(next.delayMs, isOver ? REST_MS : 100)));
    let atOnce = 0;
    do {
      const { tail } = next;
      const answer = log.answer(tail);
      const done = step(state, { answer, tail, now: service.now, roundTripMs: 20, random: 0.5 });
      records.push(...done.records);
      quiet = isOver && answer.kind === 'text' && done.records.length === 0 ? quiet + 1 : 0;
      for (const line of service.shown) stood.add(line);
      ({ state, next } = done);
      if (done.moved) stored = asStored(state.progress);
      atOnce += 1;
    } while (next.delayMs === 0 && atOnce < MOST_AT_ONCE);
    isEndless ||= atOnce >= MOST_AT_ONCE;
    if (!isOver && random.chance(0.03)) {
      state = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all', progress: stored });
      next = { ...firstPoll(state), delayMs: 1_000 };
    }
  }
  return [...brokenPromises(log, records, stood), ...(isEndless ? ['endless'] : [])];
}

function truthOf(log: FaultyLog, stood: ReadonlySet<WrittenLine>): readonly Truth[] {
  const { service } = log;
  const lastEpoch = service.written.at(-1)?.epoch;
  const truth = service.written.map((line): Truth => {
    const [isUnseen, hasEnded] = [!stood.has(line), line.epoch < service.epoch];
    // A late line of a log that ended before it could be seen, or that stood above all that an answer may hold.
    const isHidden = log.has('merged') && (hasEnded || log.has('byte-limited'));
    // The log began again and is empty, so nothing tells that the one before ended.
    const isLast = hasEnded && line.epoch === lastEpoch;
    return { text: shown(line.text), isUnseen, isUnended: isUnseen && (isHidden || isLast) };
  });
  for (const { text, at } of log.unended.toReversed())
    truth.splice(at, 0, { text: shown(text), isUnended: true });
  return truth;
}

/** @param stood Lines that stood in an answer. */
function brokenPromises(
  log: FaultyLog,
  records: readonly LogRecord[],
  stood: ReadonlySet<WrittenLine>,
): readonly string[] {
  const truth = truthOf(log, stood);
  const findings = examine(records, truth);
  const broken: string[] = [];
  const gaps = records.flatMap((record) => ('gap' in record ? [record.gap] : []));
  const isAmbiguous = gaps.some(({ reason }) => reason === 'ambiguous');
  const counts = new Map<string, number>();
  for (const { text } of truth) counts.set(text, (counts.get(text) ?? 0) + 1);
  // The gap stands at the beginning of a stretch of lines that cannot be told apart.
  const isExcused = (text: string) => isAmbiguous && (counts.get(text) ?? 0) > 1;
  const silent = findings.silent.filter((text) => !isExcused(text));
  const twice = findings.twice.filter((text) => !isExcused(text));
  if (silent.length > 0) broken.push(`silent: ${silent.length}, ${silent[0]}`);
  if (twice.length > 0) broken.push(`twice: ${twice.length}, ${twice[0]}`);
  if (findings.torn.length > 0) broken.push(`torn: ${findings.torn[0]}`);
  // Lines that an overrun counted may be seen later, and are delivered then.
  const isSkipped = gaps.some(({ reason }) => reason === 'overrun');
  if (findings.moved > 0 && !log.has('merged') && !isAmbiguous && !isSkipped)
    broken.push(`order: ${findings.moved}`);
  const least = gaps.reduce((sum, { lost_min }) => sum + lost_min, 0);
  if (least > findings.lost) broken.push(`lost_min: ${least}, lost ${findings.lost}`);
  const resets = gaps.filter(({ reason }) => reason === 'reset').length;
  const { epoch } = log.service;
  if (resets > epoch - 1) broken.push(`resets: ${resets}, began again ${epoch - 1} times`);
  records.forEach(({ seq, time }, index) => {
    if (seq !== index + 1) broken.push(`number: record ${index + 1} has ${seq}`);
    if (time <= (records[index - 1]?.time ?? '')) broken.push(`time: record ${seq} is no later`);
  });
  return broken;
}

/** As a spool keeps it: JSON, except for the windows. */
function asStored({ streams, ...rest }: GroupProgress): GroupProgress {
  const kept = Object.entries(streams).map(([level, { window, ...stream }]) => [
    level,
    { ...(JSON.parse(JSON.stringify(stream)) as typeof stream), window },
  ]);
  return {
    ...(JSON.parse(JSON.stringify(rest)) as Omit<GroupProgress, 'streams'>),
    streams: Object.fromEntries(kept) as GroupProgress['streams'],
  };
}
