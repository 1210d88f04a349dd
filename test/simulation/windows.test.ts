import { expect, it } from 'vitest';
import { PATIENCE, RUNS, search } from './prove.ts';

it(
  'every window of X inside [b + I, b + T − ε] saves the deployment, wherever it is put',
  async () => {
    expect((await search('windows', { runs: RUNS, enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

it('windows of 0.7 X lose many, so that the bound is tight and the test tests something', async () => {
  const { runs, violations } = await search('windows', { runs: 500, factor: 0.7 });
  expect(violations / runs).toBeGreaterThan(0.25);
});
