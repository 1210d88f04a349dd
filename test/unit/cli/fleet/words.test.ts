import { describe, expect, test } from 'vitest';
import { age, endpointInWords, fleetNotes, noEndpoints } from '../../../../src/cli/fleet/words.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import type { EndpointView, FleetView } from '../../../../src/fleet/view.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import {
  endpointView,
  fleetView,
  IN_FLIGHT,
  sampleAt,
  UNCLEAR,
  UNSEEN,
  WATCH_ALL,
} from '../../../support/recorded-fleet.ts';

const NOW = 1_000_000;

function statusOf(over: Partial<EndpointView> = {}, view: Partial<FleetView> = {}, budgetPerHour?: number) {
  const seen = { sample: sampleAt(NOW * 1000), sampledAtMs: NOW * 1000 };
  const fleet = fleetStatus(fleetView([endpointView({ ...seen, ...over })], view), {
    ...WATCH_ALL,
    budgetPerHour,
  });
  return { fleet, endpoint: fleet.endpoints[0]! };
}

function words(over: Partial<EndpointView> = {}, now = NOW): string {
  const { fleet, endpoint } = statusOf(over);
  return endpointInWords(endpoint, fleet, now);
}

describe('an endpoint in words', () => {
  const of = (measures: Parameters<typeof sampleAt>[1], idle = 6) => ({
    sample: sampleAt(NOW * 1000, measures, { idle }),
  });
  const NO_LOAD = { load: null, load_average: null };
  test.each<[string, Partial<EndpointView>, string]>([
    [
      'load in flight',
      { load: IN_FLIGHT, ...of({ ...NO_LOAD, load_in_flight: 150 }) },
      'active, 150 units in flight, 2.5 s of work, 12 requests at work, 100 cold, 6 idle, 3.20 an hour, seen 0 s ago',
    ],
    [
      'load of which nobody knows what it is',
      { load: UNCLEAR, ...of(NO_LOAD) },
      'active, load ? of 60 ready, 12 requests at work, 100 cold, 6 idle, 3.20 an hour, seen 0 s ago, ' +
        'the meaning of its load is not known: its workers differ: 1 of them in flight, 1 a rate',
    ],
    ['nothing', UNSEEN, 'state not known, load ? of ? ready, workers not known, price not known, never seen'],
    [
      'no workers',
      of({ capacity_hot: 0, capacity_cold: null, spend_per_hour: 0 }, 0),
      'active, load 42 of 0 ready, 12 requests at work, no workers, 0.00 an hour, seen 0 s ago',
    ],
  ])('%s', (_, over, expected) => {
    expect(words(over)).toBe(expected);
  });

  test('what was seen long ago is old from four intervals on, unless a failure says why', () => {
    expect(words({}, NOW + 60)).not.toContain('is 60 s old');
    expect(words({}, NOW + 61)).toContain(', what is shown is 61 s old');
    expect(words({ lastError: 'no answer' }, NOW + 61)).toMatch(/seen 61 s ago, last failure: no answer$/);
  });

  test.each([
    [-5, '0 s'],
    [119.4, '119 s'],
    [119.6, '2 min'],
    [7_199, '120 min'],
    [7_200, '2 h'],
    [172_799, '48 h'],
    [172_800, '2 days'],
  ])('%d s ago is %s ago', (seconds, expected) => {
    expect(age(seconds)).toBe(expected);
  });
});

describe('of all together', () => {
  test('a budget that is exceeded, and a history that takes nothing', () => {
    expect(fleetNotes(statusOf({}, {}, 3.2).fleet)).toEqual([]);
    expect(fleetNotes(statusOf({}, { historyTrouble: 'full' }, 3).fleet)).toEqual([
      'together 3.20 an hour, above PILOTLIGHT_BUDGET_PER_HOUR (3.00)',
      'nothing is being recorded: full',
    ]);
    const none = { ...statusOf({}, { historyTrouble: 'full' }, 3).fleet, endpoints: [] };
    expect(fleetNotes(none)).toEqual([]);
  });

  test.each([true, false])('a replica on standby has none, samples or not: %s', (samples) => {
    const replica = { ...EMPTY_STATUS.replica, role: 'standby' } as const;
    const fleet = { ...EMPTY_STATUS.fleet, samples, configured: true };
    expect(noEndpoints({ fleet, replica })).toBe('another replica watches the endpoints: ask that one');
  });
});
