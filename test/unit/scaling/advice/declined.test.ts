/** All that is said where there is nothing to go by. */
import { expect, test } from 'vitest';
import { advise } from '../../../../src/scaling/advice/advise.ts';
import { recordedEndpoint } from '../../../support/recorded-endpoint.ts';

const NOTHING = {
  endpoint: 'chat',
  atMs: 7_000_000,
  limitSeconds: 10,
  verdict: 'declined',
  backtest: undefined,
  today: undefined,
  best: undefined,
  assumptions: [],
  sensitivity: [],
  hangsOn: undefined,
  gain: undefined,
  tried: 0,
  series: undefined,
  nothingKeeps: false,
};

test('without a history: of now, and of no load', async () => {
  expect(await advise(recordedEndpoint(0), { nowMs: 7_000_000 })).toEqual({
    ...NOTHING,
    fromMs: 7_000_000,
    toMs: 7_000_000,
    sentence: 'declined: there is no history of it',
    load: { seenSeconds: 0, holes: [], meanRate: 0, peakRate: 0, requests: 0 },
  });
});

test('on too little of it: the load that it had', async () => {
  // The last look is one of those of 50 units/s.
  const stretches = recordedEndpoint(0.5).stretches.slice(0, 119);
  expect(await advise(recordedEndpoint(0.5, { stretches }), { nowMs: 7_000_000, limitSeconds: 3 })).toEqual({
    ...NOTHING,
    fromMs: 0,
    toMs: 1_785_000,
    limitSeconds: 3,
    sentence: 'declined: its load is known for 29 minutes; an hour is the least',
    load: {
      seenSeconds: 1785,
      holes: [],
      // Each second look is of 51 units/s, where the average is 50, and counts for two fifths.
      meanRate: expect.closeTo((60 * 50 + 59 * 50.4) / 119, 9) as number,
      peakRate: expect.closeTo(50.4, 9) as number,
      requests: 0,
    },
  });
});
