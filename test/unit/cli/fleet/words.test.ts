import { expect, test } from 'vitest';
import { endpointInWords } from '../../../../src/cli/fleet/words.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import type { EndpointView } from '../../../../src/fleet/view.ts';
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

function words(over: Partial<EndpointView>): string {
  const seen = { sample: sampleAt(NOW * 1000), sampledAtMs: NOW * 1000 };
  const fleet = fleetStatus(fleetView([endpointView({ ...seen, ...over })]), WATCH_ALL);
  return endpointInWords(fleet.endpoints[0]!, NOW);
}

const of = (measures: Parameters<typeof sampleAt>[1], idle = 6) => ({
  sample: sampleAt(NOW * 1000, measures, { idle }),
});
const NO_LOAD = { load: null, load_average: null };
test.each<[string, Partial<EndpointView>, string]>([
  [
    'load in flight',
    { load: IN_FLIGHT, ...of({ ...NO_LOAD, load_in_flight: 150 }) },
    'active, 150 units in flight, 2.5 s of work, 12 requests at work, 6 idle, 3.20 an hour, seen 0.0 s ago',
  ],
  [
    'load of which nobody knows what it is',
    { load: UNCLEAR, ...of(NO_LOAD) },
    'active, load not known, 12 requests at work, 6 idle, 3.20 an hour, seen 0.0 s ago, ' +
      'the meaning of its load is not known: its workers differ: 1 of them in flight, 1 a rate',
  ],
  ['nothing', UNSEEN, 'state not known, load not known, workers not known, price not known, never seen'],
  [
    'no workers',
    of({ capacity_hot: 0, capacity_cold: null, spend_per_hour: 0 }, 0),
    'active, load 42 of 0 ready, 12 requests at work, no workers, 0.00 an hour, seen 0.0 s ago',
  ],
])('an endpoint in words: %s', (_, over, expected) => {
  expect(words(over)).toBe(expected);
});
