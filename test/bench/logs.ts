/** What following logs costs. Run: node test/bench/logs.ts */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare } from '../../src/logs/follower/compare.ts';
import { EMPTY_STREAM } from '../../src/logs/follower/stream.ts';
import { hashesOf } from '../../src/logs/answer.ts';
import { formatMicros, type LogRecord } from '../../src/logs/record.ts';
import { Spool } from '../../src/logs/spool/spool.ts';
import { systemClock } from '../../src/time/clock.ts';
import { report } from './figures.ts';

const RUNS = 41;
const LINES = 10_000;

const request = (index: number) =>
  `2025-01-01T00:00:${String(index).padStart(9, '0')} INFO took ${(index * 7) % 1000} ms on gpu 0, 512 tokens`;

/** As they come from the service: each line a piece of one text, none the same string as one taken before. */
function received(count: number, line: (index: number) => string, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, index) => line(from + index))
    .join('\n')
    .split('\n');
}

function median(name: string, run: () => () => unknown): number {
  const times = Array.from({ length: RUNS }, () => {
    const timed = run();
    const start = performance.now();
    timed();
    return performance.now() - start;
  });
  times.sort((one, other) => one - other);
  const [middle = 0, worst = 0] = [times[RUNS >> 1], times.at(-1)];
  process.stdout.write(`${name.padEnd(60)} median ${middle.toFixed(2)} ms, worst ${worst.toFixed(2)} ms\n`);
  return middle;
}

for (const [kind, line, figure] of [
  ['ordinary', request, 'align'],
  ['all identical', () => request(0), 'align-identical'],
  ['of period 2', (index: number) => request(index % 2), undefined],
] as const) {
  const ms = median(`align ${LINES} lines on ${LINES}, ${kind}`, () => {
    const known = hashesOf(received(LINES, line));
    const tail = received(LINES, line, 3_000);
    return () => compare(known, hashesOf(tail), { isFull: true, isWhole: false });
  });
  if (figure !== undefined) report(figure, ms, `median of ${RUNS}`);
}

const folder = mkdtempSync(join(tmpdir(), 'pilotlight-bench-'));
const spool = await Spool.open({
  directory: folder,
  sinks: ['stdout'],
  clock: systemClock,
  observe: () => {},
});
let seq = 0;
let hashes = new Float64Array();
for (const count of [1, 100, 1_000]) {
  median(`store ${count} lines and their window on disk, durably`, () => {
    const lines = received(count, request, seq);
    hashes = Float64Array.from([...hashes, ...hashesOf(lines)]);
    const records = lines.map((line): LogRecord => {
      seq += 1;
      return { time: formatMicros(seq), workergroup_id: 7, epoch: 1, seq, line };
    });
    const streams = { '': { ...EMPTY_STREAM, window: { from: 0, hashes }, endsLines: true } };
    return () =>
      spool.append('workergroup/7', records, {
        epoch: 1,
        seq,
        time: seq,
        bytesPerLine: 80,
        linesPerSecond: count,
        streams,
      });
  });
}
median('read back how far a group was followed, 10,000 lines', () => () => spool.progress('workergroup/7'));
median('hand a sink 1,000 records and forget them', () => () => {
  const batch = spool.take('stdout');
  if (batch !== undefined) spool.acknowledge('stdout');
});
spool.close();
rmSync(folder, { recursive: true });
