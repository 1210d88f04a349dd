import { expect, it } from 'vitest';
import { PATIENCE, runsAt, search } from './prove.ts';

it(
  'with everything going wrong at once no promise is broken',
  async () => {
    expect((await search('chaos', { runs: runsAt(3), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

it(
  'with everything going wrong at once, and one rate limit for all, no promise is broken',
  async () => {
    expect((await search('chaosUnderLimit', { runs: runsAt(6), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

it(
  'with everything going wrong at once, and one rate limit that is not named, no promise is broken',
  async () => {
    const { examples } = await search('chaosUnderUnnamedLimit', { runs: runsAt(6), enough: 5 });
    expect(examples).toEqual([]);
  },
  PATIENCE,
);

it(
  'with a network that fails, and one key for several processes, no deployment lapses',
  async () => {
    expect((await search('oneKeyInChaos', { runs: runsAt(4), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);
