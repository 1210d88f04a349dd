import { expect, it } from 'vitest';
import { PATIENCE, RUNS, search } from './prove.ts';

it(
  'with everything going wrong at once no promise is broken',
  async () => {
    expect((await search('chaos', { runs: Math.ceil(RUNS / 3), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

it(
  'with everything going wrong at once, and one rate limit for all, no promise is broken',
  async () => {
    expect((await search('chaosUnderLimit', { runs: Math.ceil(RUNS / 6), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

it(
  'with everything going wrong at once, and one rate limit that is not named, no promise is broken',
  async () => {
    const { examples } = await search('chaosUnderUnnamedLimit', { runs: Math.ceil(RUNS / 6), enough: 5 });
    expect(examples).toEqual([]);
  },
  PATIENCE,
);

it(
  'with a network that fails, and one key for several processes, no deployment lapses',
  async () => {
    expect((await search('oneKeyInChaos', { runs: Math.ceil(RUNS / 2), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);
