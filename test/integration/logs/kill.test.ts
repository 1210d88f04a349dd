import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, onTestFailed } from 'vitest';
import { startEmulator, type Emulator, type JournalEntry } from '../../../src/emulator/index.ts';
import type { Gap, LogRecord } from '../../../src/logs/record.ts';
import { Random } from '../../simulation/random.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { isLong } from '../../support/long.ts';
import { readLogFiles, rotatedFiles } from '../../support/log-files.ts';
import { startPilotlight, type Program } from '../../support/process.ts';
import { prefixed } from '../../support/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** PROPERTY_SEED in the environment repeats a run. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
/** `npm run test:long -- test/integration/logs/kill` has 200. */
const KILLS = Number(process.env['KILLS'] ?? 4);
const LANES = isLong ? 4 : 2;
/** What the service gives of a log, and so what is to be asked for. */
const MAX_TAIL = 10_000;
/** Lines that join two views by chance. */
const EVIDENT_LINES = 8;
const LINES_PER_SECOND = 2_000;
/** The log repeats itself after so many lines: far more than a tail has. */
const PERIOD = 200_000;
const LINES = Array.from({ length: PERIOD }, (_, index) => `line ${index} ${'x'.repeat(index % 90)}`);

/** What one lane's files are worth against its true log. */
interface Outcome {
  readonly lines: number;
  readonly repeated: number;
  readonly missing: number;
  readonly gaps: number;
  readonly lostInGaps: number;
  /** Lines after a gap that could have been had: they were in the widest tail when it was asked for. */
  readonly withinReach: number;
  readonly rotations: number;
}

test.concurrent(`killed at ${KILLS} random moments, the file has the true stream: no line twice, none missing but those out of reach`, async () => {
  onTestFailed(() => console.log(`PROPERTY_SEED=${SEED} makes up the same`));
  using folder = temporaryFolder();
  const outcomes = await Promise.all(
    Array.from({ length: LANES }, (_, lane) =>
      runLane(join(folder.path, `lane-${lane}`), new Random(SEED + lane)),
    ),
  );
  const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[key], 0);
  process.stdout.write(
    `${KILLS} kills at ${LINES_PER_SECOND} lines/s: ${sum('lines')} lines in ${sum('rotations')} files, ` +
      `${sum('repeated')} twice, ${sum('missing')} missing; ` +
      `${sum('gaps')} counted gaps with ${sum('lostInGaps')} lines, ${sum('withinReach')} of them within reach\n`,
  );
  expect([sum('repeated'), sum('missing'), sum('withinReach')]).toEqual([0, 0, 0]);
  expect(sum('lines')).toBeGreaterThan(KILLS * 100);
  expect(sum('gaps')).toBeGreaterThanOrEqual(LANES);
});

async function runLane(folder: string, random: Random): Promise<Outcome> {
  const replay = { lines: LINES, loop: true };
  const seed = { workergroups: [{ id: 7, lines_per_second: 0, replay }] };
  await using emulator = await startEmulator({ seed });
  const path = join(folder, 'worker.log');
  using growth = watchGrowth(emulator);
  {
    // What was written before the first poll would be out of reach as well, without a gap to tell of it.
    await using first = startPilotlight(['run'], environment(emulator, folder));
    await emulator.journal.waitFor({ operation: 'workergroups.logs' }, { arrived: true });
    emulator.workergroups.setRate(7, LINES_PER_SECOND);
    await until(() => lastLineOf(path) !== undefined);
    first.child.kill('SIGKILL');
    await first.exit;
  }
  for (let kill = 0; kill < KILLS / LANES; kill++) {
    await using daemon = startPilotlight(['run'], environment(emulator, folder));
    if (kill === 0) await twoSlowAnswers(emulator);
    await randomMoment(emulator, daemon, random);
    daemon.child.kill('SIGKILL');
    await daemon.exit;
  }
  emulator.workergroups.setRate(7, 0);
  await finish(emulator, folder);
  const records = readLogFiles(path);
  const asked = askedOf(emulator);
  return {
    ...outcomeOf(records, (_, place) => growth.linesAt(reachedAt(records, place, asked))),
    rotations: rotatedFiles(path).length,
  };
}

interface Question {
  readonly atMs: number;
  readonly tail: number;
}

/** What was asked of the log, in order. */
function askedOf(emulator: Emulator): Question[] {
  return emulator.journal
    .entries({ operation: 'workergroups.logs' })
    .map(({ atMs, body }) => ({ atMs, tail: (body as { tail: number }).tail }));
}

/** How long the log was at any time, or soon after it: this process may stand still, and the log with it. */
function watchGrowth(emulator: Emulator) {
  const seen: { readonly at: number; readonly lines: number }[] = [];
  const timer = setInterval(
    () => seen.push({ at: Date.now(), lines: emulator.workergroups.get(7).lineCount }),
    20,
  );
  return {
    linesAt(at: number): number {
      return seen.find((one) => one.at >= at)?.lines ?? emulator.workergroups.get(7).lineCount;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Lets a last daemon take what is left of a log that has come to its end. */
async function finish(emulator: Emulator, folder: string): Promise<void> {
  const { lineCount } = emulator.workergroups.get(7);
  await using last = startPilotlight(['run'], environment(emulator, folder));
  await until(() => lastLineOf(join(folder, 'worker.log')) === LINES[(lineCount - 1) % PERIOD]);
  last.child.kill('SIGTERM');
  expect(await last.exit).toBe(0);
}

/** To two polls in a row, each for longer than a tail of the log lasts: there are lines out of reach on any machine. */
async function twoSlowAnswers(emulator: Emulator): Promise<void> {
  const operation = 'workergroups.logs';
  await emulator.journal.waitFor({ operation });
  const ms = (1.1 * 1_000 * MAX_TAIL) / LINES_PER_SECOND;
  const { faultId } = await emulator.faults.add({ kind: 'latency', ms, operation, times: 2 });
  const isSlow = ({ faults, durationMs }: JournalEntry) => faults.includes(faultId) && durationMs !== null;
  await until(() => emulator.journal.entries({ operation }).filter(isSlow).length === 2);
}

/** Mostly while it follows, sometimes while it starts. */
async function randomMoment(emulator: Emulator, daemon: Program, random: Random): Promise<void> {
  if (random.chance(0.8)) {
    const afterSeq = emulator.journal.entries().at(-1)?.seq ?? 0;
    const polled = emulator.journal.waitFor({ operation: 'workergroups.logs', afterSeq }, { arrived: true });
    await Promise.race([polled, daemon.exit]);
    // Half of them within a poll's lines on their way through, half anywhere between two polls.
    await sleep(random.between(0, random.chance(0.5) ? 80 : 1_100));
  } else {
    await sleep(random.between(0, 500));
  }
}

/** @param lengthAt How many lines the log had when all of it was asked for that brought the record at that place. */
function outcomeOf(
  records: readonly LogRecord[],
  lengthAt: (record: LogRecord, place: number) => number,
): Omit<Outcome, 'rotations'> {
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  expect(new Set(records.map(({ epoch }) => epoch))).toEqual(new Set([1]));
  let [repeated, missing, gaps, lostInGaps, withinReach] = [0, 0, 0, 0, 0];
  /** Place in the log of the line that is due. */
  let next = 0;
  let gapBefore: Gap | undefined;
  for (const [place, record] of records.entries()) {
    if ('gap' in record) {
      gapBefore = record.gap;
      gaps += 1;
      continue;
    }
    const index = Number(/^line (\d+) /.exec(record.line)?.[1]);
    expect(record.line).toBe(LINES[index]);
    // Behind a gap the length of the log tells in which of its periods a line is: within half of one.
    const about = gapBefore === undefined ? next : lengthAt(record, place);
    // How far ahead of the line that is due.
    const ahead = about - next + modulo(index - about + PERIOD / 2, PERIOD) - PERIOD / 2;
    if (ahead < 0) {
      repeated += 1;
      continue;
    }
    if (gapBefore !== undefined) {
      if (gapBefore.reason !== 'overrun') expectTooLittleToTell(gapBefore, ahead);
      lostInGaps += ahead;
      // All of a tail must have been taken but its first line, which may be cut.
      const firstInReach = Math.max(0, lengthAt(record, place) - MAX_TAIL + 1);
      withinReach += Math.min(ahead, Math.max(0, next + ahead - firstInReach));
    } else missing += ahead;
    next += ahead + 1;
    gapBefore = undefined;
  }
  const lines = records.length - gaps;
  return { lines, repeated, missing, gaps, lostInGaps, withinReach };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/**
 * When all was asked for that the service has, Unix ms: by the question that brought this record, or else, where that
 * one told too little, by the one that brought the next. However long the machine stands still between the two, the log
 * moves on, and nothing that the program does can have what has gone by.
 */
function reachedAt(records: readonly LogRecord[], place: number, asked: readonly Question[]): number {
  const times = records
    .slice(place)
    .values()
    .map(({ time }) => Date.parse(time));
  const first = times.next().value ?? Infinity;
  const questionOf = (time: number) => asked.findLast(({ atMs }) => atMs <= time);
  const question = questionOf(first);
  if ((question?.tail ?? 0) >= MAX_TAIL) return first;
  const next = times.find((time) => questionOf(time) !== question) ?? Infinity;
  return (questionOf(next)?.tail ?? 0) >= MAX_TAIL ? next : first;
}

/** The log moved on until a tail held only its last few known lines: nothing is lost, and nothing shows that. */
function expectTooLittleToTell({ reason, lost_min, lost_estimate }: Gap, lost: number): void {
  expect({ reason, lost_min, lost }).toEqual({ reason: 'ambiguous', lost_min: 0, lost: 0 });
  expect(lost_estimate).toBeLessThanOrEqual(EVIDENT_LINES);
}

/** What stands at the end of the file that is written now; there is none for a moment while it is rotated. */
function lastLineOf(path: string): string | undefined {
  const last = (readIfThere(path) ?? '').split('\n').at(-2);
  const record: LogRecord | undefined = last && JSON.parse(last);
  return record && 'line' in record ? record.line : undefined;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function environment(emulator: Emulator, folder: string): Record<string, string> {
  return prefixed({
    ...serviceOf(emulator),
    WORKER_GROUPS: '7',
    LISTEN: '127.0.0.1:0',
    ADMIN_LISTEN: '127.0.0.1:0',
    STATE_DIR: join(folder, 'state'),
    LOG_SINKS: 'file',
    LOG_FILE: join(folder, 'worker.log'),
    // Small, so that many a kill falls into a rotation.
    LOG_FILE_MAX_BYTES: '200KiB',
    LOG_FILE_MAX_FILES: '100000',
  });
}
