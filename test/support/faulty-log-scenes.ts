/** Stretches of a log's life in which the service does something wrong, each as it was found to break a follower. */
import type { LogServiceOptions } from './log-service.ts';

export interface FaultyScene {
  readonly name: string;
  readonly options: () => LogServiceOptions;
  /** Written first, and then each tenth of a second. */
  readonly writes: () => Iterable<string>;
  /** The kinds of gaps that Pilotlight must tell of. */
  readonly gaps?: readonly string[];
  /** Nobody can tell how many lines came. */
  readonly isLossy?: boolean;
}

function stale(among: number, ms: number): () => number {
  let answers = 0;
  return () => (++answers % among === 0 ? ms : 0);
}

function* steady(count: number, tenths: number, width = 0): Generator<string> {
  for (const line of numbered('Added request', 0, count)) {
    yield `${line.padEnd(width, '.')}\n`;
    for (let step = 1; step < tenths; step++) yield '';
  }
}

const numbered = (what: string, from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${what} ${from + index}`);
const BLOCK = numbered('GET /health', 0, 20).map((line) => `${line}\n`);

/** The block again and again, longer than a tail is soon, and then so many lines a second. */
function* blocks(eachSecond: number): Generator<string> {
  let line = 0;
  const next = (count: number) => Array.from({ length: count }, () => BLOCK[line++ % 20]).join('');
  yield next(9_900);
  for (let second = 0; second < 60; second++) {
    yield next(eachSecond);
    for (let step = 1; step < 10; step++) yield '';
  }
}

export const FAULTY_SCENES: readonly FaultyScene[] = [
  {
    name: 'every fifth answer is three lines old, 2 lines/s',
    options: () => ({ stale: stale(5, 1_500) }),
    writes: () => steady(150, 5),
  },
  {
    name: 'two backends in turn, one of them eight lines behind, 5 lines/s',
    options: () => ({ stale: stale(2, 1_600) }),
    writes: () => steady(300, 2),
  },
  {
    name: 'the lines of several workers, one in twenty seen 3 s late, where it belongs, 10 lines/s',
    options: () => {
      let lines = 0;
      return { merged: () => (++lines % 20 === 0 ? 3_000 : 0) };
    },
    writes: () => steady(600, 1),
  },
  {
    name: 'a progress bar of 1,000 steps, one a second, which rests for 100 s after every 250',
    options: () => ({}),
    *writes() {
      yield `${numbered('Started process', 0, 50).join('\n')}\n`;
      for (let step = 0; step <= 1_000; step++) {
        yield `${step === 0 ? '' : '\r'}Loading weights: ${'#'.repeat(step / 20)} ${step / 10}%`;
        const seconds = step % 250 === 249 ? 100 : 1;
        for (let rest = 1; rest < 10 * seconds; rest++) yield '';
      }
      yield '\nready\n';
    },
  },
  {
    name: 'lines of 8 KB, 5 lines/s, and no answer above 1 MiB comes through',
    options: () => ({ byteLimit: 2 ** 20 }),
    writes: () => steady(300, 2, 8_191),
  },
  {
    name: 'a service that joins its lines, and shows one in ten half-written, 10 lines/s',
    options: () => ({ endsLines: false }),
    *writes() {
      let rest = '';
      for (const [index, line] of Array.from(steady(600, 1)).entries()) {
        // At each whole second, when everyone asks, the beginning of a line.
        const isHalf = index % 10 === 0;
        yield isHalf ? line.slice(0, 5) : rest + line;
        rest = isHalf ? line.slice(5) : '';
      }
    },
  },
  {
    name: 'a block of 20 lines that repeats, 14 lines/s, in a log longer than a tail',
    options: () => ({}),
    writes: () => blocks(14),
  },
  {
    name: 'the same with 23 lines/s: more than a block between two polls',
    options: () => ({}),
    writes: () => blocks(23),
  },
  {
    name: '`tail` counts bytes, 10 lines/s',
    options: () => ({ unit: 'bytes' }),
    writes: () => steady(600, 1),
  },
  {
    name: 'files of 8 KB, wiped when they are full, 10 lines/s',
    options: () => ({ fileBytes: 8_192 }),
    writes: () => steady(1_200, 1),
    gaps: ['reset'],
    isLossy: true,
  },
  {
    name: 'a crash loop of 40 s: the log begins again in the same words',
    options: () => ({ fileBytes: 40 * 'Added request 00\n'.length }),
    *writes() {
      for (let second = 0; second < 400; second++) {
        yield `Added request ${String(second % 40).padStart(2, '0')}\n`;
        for (let step = 1; step < 10; step++) yield '';
      }
    },
    gaps: ['reset'],
    isLossy: true,
  },
];
