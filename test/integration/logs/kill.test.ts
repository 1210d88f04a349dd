import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { bundleInto } from '../../support/bundle.ts';
import { until } from '../../support/daemon.ts';
import { readLogFiles, rotatedFiles } from '../../support/log-files.ts';
import { startProgram, type Program } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const KILLS = process.env['REQUIRE_ALL'] === '1' ? 200 : 20;
const LANES = 5;
const LINES_PER_SECOND = 2_000;
/** The log repeats itself after so many lines: six times what one tail can hold. */
const PERIOD = 60_000;
const LINES = Array.from({ length: PERIOD }, (_, index) => `line ${index} ${'x'.repeat(index % 90)}`);

/** What one lane's files are worth against its true log. */
interface Outcome {
  readonly lines: number;
  readonly repeated: number;
  readonly missing: number;
  readonly gaps: number;
  readonly lostInGaps: number;
  readonly rotations: number;
}

test(`killed at ${KILLS} random moments, the file has the true stream: no line twice, none missing outside of gaps`, async () => {
  using folder = temporaryFolder();
  const program = bundleInto(join(folder.path, 'program'));
  const outcomes = await Promise.all(
    Array.from({ length: LANES }, (_, lane) => runLane(program, join(folder.path, `lane-${lane}`))),
  );
  const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[key], 0);
  process.stdout.write(
    `${KILLS} kills at ${LINES_PER_SECOND} lines/s: ${sum('lines')} lines in ${sum('rotations')} files, ` +
      `${sum('repeated')} twice, ${sum('missing')} missing; ` +
      `${sum('gaps')} counted gaps with ${sum('lostInGaps')} lines\n`,
  );
  expect([sum('repeated'), sum('missing')]).toEqual([0, 0]);
  expect(sum('lines')).toBeGreaterThan(KILLS * 100);
}, 240_000);

async function runLane(program: string, folder: string): Promise<Outcome> {
  await using emulator = await startEmulator({
    seed: {
      workergroups: [{ id: 7, lines_per_second: LINES_PER_SECOND, replay: { lines: LINES, loop: true } }],
    },
  });
  const path = join(folder, 'worker.log');
  const start = () => startProgram(process.execPath, [program, 'run'], environment(emulator, folder));
  for (let kill = 0; kill < KILLS / LANES; kill++) {
    await using daemon = start();
    await randomMoment(emulator, daemon);
    daemon.child.kill('SIGKILL');
    await daemon.exit;
  }
  emulator.workergroups.setRate(7, 0);
  const total = emulator.workergroups.get(7).lineCount;
  await using last = start();
  await until(() => last.stderr() !== '' && lastLineOf(path) === LINES[(total - 1) % PERIOD]);
  last.child.kill('SIGTERM');
  expect(await last.exit).toBe(0);
  return { ...outcomeOf(readLogFiles(path)), rotations: rotatedFiles(path).length };
}

/** Mostly while it follows, sometimes while it starts. */
async function randomMoment(emulator: Emulator, daemon: Program): Promise<void> {
  if (Math.random() < 0.8) {
    const afterSeq = emulator.journal.entries().at(-1)?.seq ?? 0;
    const polled = emulator.journal.waitFor({ operation: 'workergroups.logs', afterSeq }, { arrived: true });
    await Promise.race([polled, daemon.exit]);
    // Half of them within a poll's lines on their way through, half anywhere between two polls.
    await sleep(Math.random() * (Math.random() < 0.5 ? 80 : 1_100));
  } else {
    await sleep(Math.random() * 500);
  }
}

function outcomeOf(records: readonly LogRecord[]): Omit<Outcome, 'rotations'> {
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  expect(new Set(records.map(({ epoch }) => epoch))).toEqual(new Set([1]));
  let [lines, repeated, missing, gaps, lostInGaps] = [0, 0, 0, 0, 0];
  let next: number | undefined;
  let gapBefore = false;
  for (const record of records) {
    if ('gap' in record) {
      expect(record.gap.reason).toBe('overrun');
      gapBefore = true;
      gaps += 1;
      continue;
    }
    const index = Number(/^line (\d+) /.exec(record.line)?.[1]);
    expect(record.line).toBe(LINES[index]);
    // How far ahead of the line that is due; more than half a period ahead is behind.
    const ahead = next === undefined ? 0 : (index - next + PERIOD) % PERIOD;
    if (ahead > PERIOD / 2) repeated += 1;
    else if (gapBefore) lostInGaps += ahead;
    else missing += ahead;
    lines += 1;
    next = (index + 1) % PERIOD;
    gapBefore = false;
  }
  return { lines, repeated, missing, gaps, lostInGaps };
}

function lastLineOf(path: string): string | undefined {
  try {
    const record = readLogFiles(path).at(-1);
    return record && 'line' in record ? record.line : undefined;
  } catch {
    return undefined; // in the middle of a write or a rotation
  }
}

function environment(emulator: Emulator, folder: string): Record<string, string> {
  return {
    PILOTLIGHT_API_KEY: emulator.apiKey,
    PILOTLIGHT_BASE_URL: emulator.url,
    PILOTLIGHT_WORKER_GROUPS: '7',
    PILOTLIGHT_LISTEN: '127.0.0.1:0',
    PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    PILOTLIGHT_STATE_DIR: join(folder, 'state'),
    PILOTLIGHT_LOG_SINKS: 'file',
    PILOTLIGHT_LOG_FILE: join(folder, 'worker.log'),
    // Small, so that many a kill falls into a rotation.
    PILOTLIGHT_LOG_FILE_MAX_BYTES: '200KiB',
    PILOTLIGHT_LOG_FILE_MAX_FILES: '100000',
  };
}
