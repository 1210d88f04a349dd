import { expect, test } from 'vitest';
import { withLoads } from '../../../src/cli/load-flag.ts';

const [one, chat] = [
  { id: 1, endpoint_name: 'one' },
  { id: 2, endpoint_name: 'chat' },
];

test('a load goes to its endpoint of the seed, or of the default one', () => {
  const load = { shape: 'bursts', rate: 1500 };
  expect(withLoads({}, ['chat=bursts:1.5e3']).endpoint_groups).toMatchObject([{ id: 31, load }]);
  expect(withLoads({ endpoint_groups: [one, chat] }, ['chat=bursts:1500']).endpoint_groups).toEqual([
    one,
    { ...chat, load },
  ]);
});

test.each([
  ['chat', 'allowed: ENDPOINT=SHAPE:RATE'],
  ['talk=constant:5', 'no endpoint talk; allowed: one, chat'],
])('%s is refused', (flag, message) => {
  expect(() => withLoads({ endpoint_groups: [one, chat] }, [flag])).toThrow(message);
});
