import { expect, test } from 'vitest';
import { checkEndpointGroup, resolveDefaults } from '../../../../src/scaling/rules/check.ts';
import { rulesKept } from '../../../../src/scaling/rules/kept-rules.ts';

const TODAY = { ...resolveDefaults({}), target_util: 0.9, min_load: 100, cold_workers: 2, max_workers: 10 };

test.each([
  ['what warns of nothing', { target_util: 0.95 }, true],
  ['no spare capacity', { target_util: 1 }, false],
  ['nothing kept ready', { min_load: 0, cold_workers: 0 }, false],
  ['a floor that is never reached', { min_load: 1_000, target_util: 0.9 }, false],
  ['a floor that is just reached', { min_load: 900, target_util: 0.9 }, true],
  ['what the service refuses', { cold_workers: 11 }, false],
])('%s', (_what, over, isKept) => {
  const facts = { workerPerformance: 100 };
  const after = { ...TODAY, ...over };
  expect(rulesKept(TODAY, facts)(after)).toBe(isKept);
  const found = checkEndpointGroup({ ...after, endpoint_name: undefined }, facts).findings;
  expect(found.every(({ severity }) => severity === 'note')).toBe(isKept);
});

test('a warning that the set in force has is nothing new; an error always is one', () => {
  const keeps = rulesKept({ ...TODAY, target_util: 0.97, cold_workers: 11 }, {});
  expect(keeps({ ...TODAY, target_util: 1 })).toBe(true);
  expect(keeps({ ...TODAY, cold_workers: 12 })).toBe(false);
});
