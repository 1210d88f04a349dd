import { expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/text.ts';
import { createLiveScreen, fleetTable, type FleetPoll } from '../../../../src/cli/fleet/watch-fleet.ts';
import { endpointInWords } from '../../../../src/cli/fleet/words.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import type { EndpointView } from '../../../../src/fleet/view.ts';
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

function seen(endpoints: readonly Partial<EndpointView>[], budgetPerHour?: number): FleetPoll {
  const views = endpoints.map((over) =>
    endpointView({ sample: sampleAt(NOW * 1000), sampledAtMs: (NOW - 4) * 1000, ...over }),
  );
  const watched = { ...WATCH_ALL, budgetPerHour };
  return { fleet: fleetStatus(fleetView(views), watched), replica: EMPTY_STATUS.replica, now: NOW };
}

test('a line for each endpoint', () => {
  const none = { endpoint: 'none', sample: sampleAt(0, { load: 5, capacity_hot: 0 }) };
  const idle = { endpoint: 'idle', sample: sampleAt(0, { load: 0, capacity_hot: 0 }) };
  const flying = sampleAt(0, { load: null, load_in_flight: 150, requests_working: null }, {});
  const busy = { endpoint: 'busy', load: IN_FLIGHT, sample: flying };
  const unclear = { load: UNCLEAR, sample: sampleAt(0, { load: null, spend_per_hour: 0 }, { idle: 6 }) };
  const poll = seen([{ endpoint: 'new', ...UNSEEN }, idle, busy, unclear]);
  expect(poll.fleet.endpoints.map((endpoint) => endpointInWords(endpoint, NOW))).toEqual([
    'state not known, load not known, workers not known, price not known, never seen',
    'active, load 0 of 0 ready, 12 requests at work, 6 idle, 2 model_loading, 10 stopped, 3.20 an hour, seen 4.0 s ago',
    'active, 150 units in flight, 2.5 s of work, no workers, 3.20 an hour, seen 4.0 s ago',
    'active, load not known, 12 requests at work, 6 idle, 0.00 an hour, seen 4.0 s ago, ' +
      'the meaning of its load is not known: its workers differ: 1 of them in flight, 1 a rate',
  ]);
  expect(fleetTable(seen([{}, { endpoint: 'new', ...UNSEEN }, none, idle, busy]), 200).slice(0, 6)).toEqual([
    'ENDPOINT  LOAD / READY   USE         SPEND/H  WORKERS                              STATE   REQS  SEEN',
    'chat      42 / 60        70%         3.20     6 idle, 2 model_loading, 10 stopped  active  12    4.0 s',
    'new       — / —          —           —        —                                    —       —     never',
    'none      5 / 0          none ready  3.20     6 idle, 2 model_loading, 10 stopped  active  12    4.0 s',
    'idle      0 / 0          no load     3.20     6 idle, 2 model_loading, 10 stopped  active  12    4.0 s',
    'busy      150 in flight  2.5 s       3.20     none                                 active  —     4.0 s',
  ]);
});

const WIDE = [
  {},
  {
    endpoint: '日本語のとても長い名前のエンドポイントです',
    drift: [{ parameter: 'p', actual: 1, wanted: 2 }],
  },
  { endpoint: '👩‍👩‍👧‍👦'.repeat(20), lastError: 'a long message '.repeat(20) },
];

test.each([1, 8, 40, 80, 160, 240])('whatever the width, no line is wider than %i columns', (columns) => {
  const lines = fleetTable(seen(WIDE, 1), columns);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  expect(lines.length).toBeGreaterThan(5);
});

test('what needs a person stands below, with the name of its endpoint', () => {
  const churn = { severity: 'warning', sinceMs: 0, says: 'replaced 3 workers' } as const;
  const code = { endpoint: 'code', troubles: { churn, flapping: null } };
  expect(fleetTable(seen([{}, code], 5), 200).slice(3)).toEqual([
    'Endpoint code replaced 3 workers',
    'The endpoints cost 6.40 an hour, above PILOTLIGHT_BUDGET_PER_HOUR (5)',
  ]);
});

test('a frame goes back over the last one, counts what does not fit, and clears only where the terminal has changed', () => {
  const screen = createLiveScreen();
  const size = { columns: 20, rows: 3 };
  expect(screen.end()).toBe('');
  expect(screen.frame([], size)).toBe('\u001B[?25l\u001B[J');
  expect(screen.frame(['a'], size)).toBe('a\u001B[K\n\u001B[J');
  expect(screen.frame(['a', 'b'], size)).toBe('\u001B[1A\ra\u001B[K\nb\u001B[K\n\u001B[J');
  expect(screen.frame(['c'], size)).toBe('\u001B[2A\rc\u001B[K\n\u001B[J');
  const cut = '\u001B[1A\ra\u001B[K\n… 2 more lines\u001B[K\n\u001B[J';
  expect(screen.frame(['a', 'b', 'c'], size)).toBe(cut);
  expect(screen.frame(['a'], { ...size, columns: 21 }).indexOf('\u001B[2J\u001B[Ha')).toBe(0);
  expect(screen.frame(['a', 'b'], { columns: 21, rows: 1 })).toContain('\r… 2 more lines');
  expect(screen.end()).toBe('\u001B[?25h');
});
