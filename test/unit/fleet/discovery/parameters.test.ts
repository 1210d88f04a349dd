import { describe, expect, test } from 'vitest';
import { driftOf, findingsOf, numericParameters } from '../../../../src/fleet/discovery/endpoints.ts';
import { checkEndpointGroups } from '../../../../src/scaling/rules/check.ts';

function wanted(group: unknown) {
  const [checked] = checkEndpointGroups([group]);
  if (!checked) throw new Error('nothing was checked');
  return checked;
}

test('parameters are numbers, text that stands for one included, and defaults where there is none', () => {
  const row = {
    id: 31,
    endpoint_name: 'chat',
    target_util: '0.8',
    cold_workers: null,
    max_workers: 16,
    api_key: 'x',
  };
  expect(numericParameters(row)).toEqual({
    min_load: 0,
    min_cold_load: 0,
    target_util: 0.8,
    cold_mult: 2.5,
    cold_workers: 5,
    max_workers: 16,
    max_queue_time: 30,
    target_queue_time: 10,
  });
  expect(numericParameters({ id: 31, inactivity_timeout: -1 })).toMatchObject({ inactivity_timeout: -1 });
});

describe('drift', () => {
  test('is what differs from what is written, not from a default that was filled in', () => {
    const row = {
      id: 31,
      target_util: 0.9,
      max_workers: 16,
      cold_mult: '3',
      min_load: null,
      cold_workers: 5,
    };
    expect(driftOf(row, wanted({ endpoint_name: 'chat', target_util: 0.8, cold_mult: 3 }))).toEqual([
      { parameter: 'target_util', actual: 0.9, wanted: 0.8 },
    ]);
    // The endpoint's own default counts where it has nothing.
    expect(driftOf(row, wanted({ endpoint_name: 'chat', min_load: 5, max_workers: 16 }))).toEqual([
      { parameter: 'min_load', actual: 0, wanted: 5 },
    ]);
  });

  test('is none in what the service does not tell, or nobody configured', () => {
    expect(
      driftOf({ id: 31, inactivity_timeout: 60 }, wanted({ endpoint_name: 'chat', max_workers: 3 })),
    ).toEqual([]);
  });

  test('names what is unset and has no default, and what is no number', () => {
    const row = { id: 31, inactivity_timeout: null, max_workers: 'many' };
    expect(driftOf(row, wanted({ inactivity_timeout: 60, max_workers: 20 }))).toEqual([
      { parameter: 'max_workers', actual: 'many', wanted: 20 },
      { parameter: 'inactivity_timeout', actual: null, wanted: 60 },
    ]);
  });

  test('is not looked for where the configuration itself is wrong', () => {
    expect(driftOf({ id: 31, max_workers: 5 }, wanted({ max_workers: -1 }))).toEqual([]);
  });
});

describe('rules', () => {
  const rules = (row: object, facts = {}) => findingsOf({ id: 31, ...row }, facts).map(({ rule }) => rule);

  test('run on what the service has, and say nothing of defaults', () => {
    expect(rules({ endpoint_name: 'chat', target_util: 0.99, cold_mult: null, user_id: 1 })).toEqual([
      'target-util-no-headroom',
    ]);
    expect(rules({})).toEqual([]);
  });

  test('know what was measured of the workers', () => {
    expect(rules({ min_load: 1_000 }, { workerPerformance: 10 })).toContain('floor-above-capacity');
    expect(rules({ inactivity_timeout: 30 }, { coldStartSeconds: 60 })).toContain(
      'inactivity-shorter-than-start',
    );
  });

  test('name what the service would refuse, though it has it', () => {
    expect(rules({ target_util: 1.5 })).toEqual(['target-util-range']);
  });
});
