import { expect, test } from 'vitest';
import { Demand } from '../../../../../src/heartbeat/driver/pacing/demand.ts';
import { timingFor } from '../../../../../src/heartbeat/engine/formulas.ts';

const of = (ttl: number) => timingFor({ ttl, interval: 'auto' });
/** T − ε − X = 47.4 s, and T − ε − X/2 = 53.4 s. */
const MINUTE = of(60_000);
/** T − ε − X = 15.7 s. */
const SHORT = of(20_000);

test('of none nobody needs a turn', () => {
  const demand = new Demand();
  expect([demand.deployments, demand.widestGap]).toEqual([0, Infinity]);
});

test('those fit under a limit that all have a turn in the time that is available', () => {
  const demand = new Demand();
  for (let count = 0; count < 3; count += 1) demand.add(MINUTE);
  demand.remove(MINUTE);
  expect(demand.deployments).toBe(2);
  expect(demand.under(2_000)).toEqual({
    thresholdMs: 2_000,
    deployments: 2,
    neededMs: 4_000,
    availableMs: expect.closeTo(47_400, 6) as number,
    fits: true,
  });
  expect(demand.under(23_699).fits).toBe(true);
  expect(demand.under(23_701).fits).toBe(false);
  demand.add(SHORT);
  expect(demand.under(1_000).availableMs).toBeCloseTo(3 / (2 / 47_400 + 1 / 15_700), 6);
});

test('each has its next turn after the same part of its time, and never when it would be too late', () => {
  const demand = new Demand();
  demand.add(MINUTE);
  demand.add(SHORT);
  const share = 1.05 * 1_000 * (1 / 47_400 + 1 / 15_700);
  expect(demand.turnAfter(MINUTE, 1_000)).toBeCloseTo(share * 47_400, 6);
  expect(demand.turnAfter(SHORT, 1_000)).toBeCloseTo(share * 15_700, 6);
  expect(demand.turnAfter(MINUTE, 60_000)).toBe(53_400);
});

test('the widest gap with which all live is by what is left while nothing fails', () => {
  const demand = new Demand();
  demand.add(MINUTE);
  expect(demand.widestGap).toBeCloseTo(53_400, 6);
  demand.add(MINUTE);
  expect(demand.widestGap).toBeCloseTo(26_700, 6);
  demand.remove(MINUTE);
  demand.remove(MINUTE);
  expect(demand.widestGap).toBe(Infinity);
});

test('a TTL that leaves no time counts as one tick', () => {
  const demand = new Demand();
  const none = of(3_000);
  demand.add(none);
  expect(demand.under(10)).toMatchObject({ availableMs: expect.closeTo(50, 6) as number, fits: true });
  expect(demand.widestGap).toBeCloseTo(50 + 3_250 / 2, 6);
});
