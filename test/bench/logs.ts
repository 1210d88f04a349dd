/** What following logs costs. Run: node test/bench/logs.ts */
import { align } from '../../src/logs/align.ts';

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

function median(name: string, run: () => () => unknown): void {
  const times = Array.from({ length: RUNS }, () => {
    const timed = run();
    const start = performance.now();
    timed();
    return performance.now() - start;
  });
  times.sort((one, other) => one - other);
  const [middle = 0, worst = 0] = [times[RUNS >> 1], times.at(-1)];
  process.stdout.write(`${name.padEnd(60)} median ${middle.toFixed(2)} ms, worst ${worst.toFixed(2)} ms\n`);
}

for (const [kind, line] of [
  ['ordinary', request],
  ['all identical', () => request(0)],
  ['of period 2', (index: number) => request(index % 2)],
] as const) {
  median(`align ${LINES} lines on ${LINES}, ${kind}`, () => {
    const window = received(LINES, line);
    const tail = received(LINES, line, 3_000);
    return () => align(window, tail, { full: true });
  });
}
