import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import {
  historyBar,
  meansOver,
  STAGES_IN_WORDS,
  useBar,
  workersBar,
} from '../../../../src/cli/fleet/bars.ts';
import { WORKER_STATUSES } from '../../../../src/contract/operations/serverless/workers.ts';

function textOf(spans: readonly { readonly text: string }[]): string {
  return spans.map(({ text }) => text).join('');
}

test.each([
  [0, '░░░░░░░░', 'good'],
  [0.5, '████░░░░', 'good'],
  [0.55, '████▍░░░', 'good'],
  [0.95, '███████▋', 'warn'],
  [1, '████████', 'warn'],
  [7, '████████', 'bad'],
])('of what can be done, %d is drawn as %s', (share, bar, tone) => {
  const spans = useBar(share, 8);
  expect(textOf(spans)).toBe(bar);
  expect(spans[0]?.tone).toBe(tone);
});

test('workers are a cell each, in the order of their use, each kind with its own sign', () => {
  const workers = { error: 1, stopped: 4, idle: 3, model_loading: 1, loading: 1, destroying: 1, unknown: 1 };
  expect(textOf(workersBar(workers, 16))).toBe('███▒▒░░░░×··');
  expect(textOf(workersBar({}, 16))).toBe('');
});

test('many workers share the cells, and none of a kind vanishes', () => {
  expect(textOf(workersBar({ idle: 90, error: 1, stopped: 9 }, 10))).toBe('████████░×');
  const statuses = fc.dictionary(fc.constantFrom(...WORKER_STATUSES, 'unknown', '__proto__'), fc.nat(500));
  fc.assert(
    fc.property(statuses, fc.integer({ min: 5, max: 40 }), (workers, cells) => {
      const total = Object.values(workers).reduce((sum, count) => sum + count, 0);
      const bar = textOf(workersBar(workers, cells));
      expect(bar.length).toBeLessThanOrEqual(cells);
      if (total <= cells) expect(bar.length).toBe(total);
      expect(bar.includes('×')).toBe((workers['error'] ?? 0) > 0);
      expect(bar.includes('█')).toBe((workers['idle'] ?? 0) + (workers['update_ready'] ?? 0) > 0);
    }),
  );
});

test('a history is as high as it was, and empty where nothing was seen', () => {
  expect(historyBar([0, 1, 4, null, 7.9, 8])).toBe('▁▂▅ ██');
  expect(historyBar([0, 0])).toBe('▁▁');
  expect(historyBar([null, null])).toBe('  ');
});

test('means are of equal parts of the time; a part without samples is not known', () => {
  const row = (from: number, mean: number | null) => ({ from, load: mean === null ? null : { mean } });
  const rows = [row(0, 2), row(10, 4), row(50, null), row(75, 8), row(100, 99)];
  expect(meansOver(rows, 0, 100, 4)).toEqual([3, null, null, 8]);
});

test('each kind of worker has its sign and its tone', () => {
  expect(workersBar({ idle: 1, loading: 1, stopped: 1, error: 1, destroying: 1 }, 16)).toEqual([
    { text: '█', tone: 'good' },
    { text: '▒', tone: 'warn' },
    { text: '░', tone: 'quiet' },
    { text: '×', tone: 'bad' },
    { text: '·', tone: 'quiet' },
  ]);
  expect(STAGES_IN_WORDS).toBe('█ ready ▒ starting ░ cold × error');
});

test.each([
  [0.9, 'good'],
  [0.901, 'warn'],
  [1, 'warn'],
  [1.001, 'bad'],
  [-1, 'good'],
])('a use of %d is %s', (share, tone) => {
  const [full, rest] = useBar(share, 8);
  expect([full?.tone, rest?.tone]).toEqual([tone, 'quiet']);
  expect(`${full?.text}${rest?.text}`).toHaveLength(8);
});

test('a cell of a history is as high as its part of the most', () => {
  expect(historyBar([1, 2, 3, 4, 5, 6, 7, 8])).toBe('▂▃▄▅▆▇██');
  expect(meansOver([], 0, 10, 2)).toEqual([null, null]);
});
