/** What it costs to find a tail's new lines. Run: node test/bench/logs.ts */
import { compare } from '../../src/logs/follower/compare.ts';
import { hashesOf } from '../../src/logs/answer.ts';
import { ensure, quantile, report } from './figures.ts';

const RUNS = 41;
const [LINES, LINES_NEW] = [10_000, 3_000];

const request = (index: number) =>
  `2025-01-01T00:00:${String(index).padStart(9, '0')} INFO took ${(index * 7) % 1000} ms on gpu 0, 512 tokens`;

const same = () => request(0);

/** As they come from the service: each line a piece of one text, none the same string as one taken before. */
function received(count: number, line: (index: number) => string, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, index) => line(from + index))
    .join('\n')
    .split('\n');
}

for (const [figure, line] of [
  ['align', request],
  ['align-identical', same],
] as const) {
  const times = Array.from({ length: RUNS }, () => {
    const known = hashesOf(received(LINES, line));
    const tail = received(LINES, line, LINES_NEW);
    const from = performance.now();
    const { fresh } = compare(known, hashesOf(tail), { isFull: true, isWhole: false });
    const took = performance.now() - from;
    // Equal lines do not show how many are new.
    ensure(line === same || fresh.length === LINES_NEW, `${LINES_NEW} new lines; there were ${fresh.length}`);
    return took;
  });
  report(figure, quantile(times, 0.5), `median of ${RUNS}`);
}
