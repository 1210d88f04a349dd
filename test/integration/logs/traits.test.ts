/** A worker group and an endpoint, followed in every value of the traits of logs, over real sockets in virtual time. */
import { describe, expect, test } from 'vitest';
import type { LogRecord } from '../../../src/logs/record.ts';
import { followEmulator, GROUP } from '../../support/followed-emulator.ts';
import { isLong } from '../../support/long.ts';
import { gapsOf, linesOf } from '../../support/log-polls.ts';
import { asDelivered, expectSubsequence } from '../../support/log-records.ts';

const ENDPOINT = 31;
const SECONDS = isLong ? 240 : 80;
const LINES_PER_SECOND = 10;
/** Of a file that is wiped, and of what is written in a poll interval at most, of either log. */
const [FILE_BYTES, INTERVAL_LINES] = [16_384, 60];

const TRAITS = (['lines', 'bytes'] as const).flatMap((tail_unit) =>
  (['text', 'levels'] as const).flatMap((log_shape) =>
    (['unlimited', FILE_BYTES] as const).map((log_file_bytes) => ({ tail_unit, log_shape, log_file_bytes })),
  ),
);

function of(records: readonly LogRecord[], id: 'workergroup_id' | 'endpoint_id', level: string | undefined) {
  const found = records.filter((record) => record[id] !== undefined && record.level === level);
  return { lines: linesOf(found), gaps: gapsOf(found) };
}

/** Nothing comes twice, and what is missing stands behind a gap that says how much. The last lines may not be read yet. */
function expectAllTold(
  { lines, gaps }: ReturnType<typeof of>,
  written: readonly string[],
  fileBytes: number | 'unlimited',
): void {
  const truth = asDelivered(written);
  const lost = truth.length - lines.length;
  if (fileBytes === 'unlimited') {
    expect(gaps).toEqual([]);
    expect(lines).toEqual(truth.slice(0, lines.length));
    expect(lost).toBeLessThanOrEqual(INTERVAL_LINES);
    return;
  }
  expectSubsequence(lines, truth);
  expect(gaps.filter(({ reason }) => reason !== 'reset')).toEqual([]);
  const most = (gaps.length + 1) * INTERVAL_LINES;
  expect(gaps.length).toBeGreaterThanOrEqual(
    Math.floor(Buffer.byteLength(written.join('\n')) / fileBytes) - 1,
  );
  expect(lost).toBeLessThanOrEqual(most);
  expect(gaps.reduce((sum, { lost_min }) => sum + lost_min, 0)).toBeLessThanOrEqual(lost);
  const estimates = gaps.map(({ lost_estimate }) => lost_estimate);
  if (estimates.includes(null)) return;
  const estimate = estimates.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  expect(estimate).toBeGreaterThanOrEqual(lost / 2 - INTERVAL_LINES);
  expect(estimate).toBeLessThanOrEqual(lost * 2 + INTERVAL_LINES);
}

describe.each(TRAITS)('tail in $tail_unit, a log in $log_shape, files of $log_file_bytes bytes', (traits) => {
  test('nothing is lost but what gaps tell, and nothing comes twice', async () => {
    await using followed = await followEmulator([], {
      dialect: 'public',
      traits,
      sources: [
        { kind: 'workergroup', id: GROUP },
        { kind: 'endpoint', id: ENDPOINT, name: 'chat' },
      ],
      seed: {
        endpoint_groups: [{ id: ENDPOINT, endpoint_name: 'chat', max_workers: 8 }],
        workergroups: [
          { id: GROUP, lines_per_second: LINES_PER_SECOND },
          { id: 8, endpoint_id: ENDPOINT, lines_per_second: 0 },
        ],
      },
      settings: { engineDecisionSeconds: 1 },
    });
    const { emulator, sink, advance } = followed;
    emulator.load.set(ENDPOINT, { shape: 'poisson', rate: 40, request_work: 60 });
    await advance(SECONDS * 1_000, 200);
    emulator.workergroups.setRate(GROUP, 0);
    emulator.load.stop();
    await advance(40_000, 1_000);
    const group = emulator.workergroups.lines(GROUP);
    expect(group.length).toBeGreaterThan(SECONDS * LINES_PER_SECOND - 2);
    const levels =
      traits.log_shape === 'levels' ? (['info0', 'info1', 'trace', 'debug'] as const) : [undefined];
    for (const level of levels) {
      const written = emulator.endpointGroups.lines(ENDPOINT, level ?? 'info0');
      expect(written.length).toBeGreaterThan(level === 'info1' ? 4 : SECONDS);
      expectAllTold(of(sink.records, 'endpoint_id', level), written, traits.log_file_bytes);
      const told = of(sink.records, 'workergroup_id', level);
      if (level === 'trace' || level === 'debug') expect(told.lines).toEqual([]);
      else expectAllTold(told, level === 'info1' ? asDelivered(group) : group, traits.log_file_bytes);
    }
    for (const key of ['workergroup_id', 'endpoint_id'] as const) {
      const numbers = sink.records.flatMap(({ [key]: id, seq }) => (id === undefined ? [] : [seq]));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }
  });
});
