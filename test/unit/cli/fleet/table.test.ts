import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/text.ts';
import { createLiveScreen, fleetTable, type FleetPoll } from '../../../../src/cli/fleet/watch-fleet.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import type { EndpointView } from '../../../../src/fleet/view.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { endpointView, fleetView, sampleAt, UNSEEN, WATCH_ALL } from '../../../support/recorded-fleet.ts';

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
  expect(fleetTable(seen([{}, { endpoint: 'new', ...UNSEEN }, none, idle]), 200).slice(0, 5)).toEqual([
    'ENDPOINT  LOAD / READY  USE         SPEND/H  WORKERS                              STATE   REQS  SEEN',
    'chat      42 / 60       70%         3.20     6 idle, 2 model_loading, 10 stopped  active  12    4.0 s',
    'new       — / —         —           —        —                                    —       —     never',
    'none      5 / 0         none ready  3.20     6 idle, 2 model_loading, 10 stopped  active  12    4.0 s',
    'idle      0 / 0         no load     3.20     6 idle, 2 model_loading, 10 stopped  active  12    4.0 s',
  ]);
});

describe('whatever the width', () => {
  const endpoints = [
    {},
    {
      endpoint: '日本語のとても長い名前のエンドポイントです',
      drift: [{ parameter: 'p', actual: 1, wanted: 2 }],
    },
    { endpoint: '👩‍👩‍👧‍👦'.repeat(20), lastError: 'a long message '.repeat(20) },
  ];

  test.each([1, 8, 40, 80, 160, 240])('no line is wider than %i columns', (columns) => {
    const lines = fleetTable(seen(endpoints, 1), columns);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    expect(lines.length).toBeGreaterThan(5);
  });

  test('the name and the load are the last to go', () => {
    const [heading, first] = fleetTable(seen([{}]), 24);
    expect([heading, first]).toEqual(['ENDPOINT  LOAD / READY', 'chat      42 / 60']);
  });
});

test('what needs a person stands below, with the name of its endpoint', () => {
  const finding = {
    rule: 'r',
    severity: 'warning',
    parameter: 'cold_mult',
    got: 1,
    allowed: 'more',
    message: 'too small',
  } as const;
  const churn = { severity: 'warning', sinceMs: 0, says: 'replaced 3 workers' } as const;
  const chat = { drift: [{ parameter: 'target_util', actual: null, wanted: 0.9 }], findings: [finding] };
  const counts = { stuckWorkers: 1, failingWorkers: 2, sampledAtMs: (NOW - 300) * 1000 };
  const code = { endpoint: 'code', ...counts, troubles: { churn, flapping: null } };
  const lines = fleetTable(seen([chat, code], 5), 200);
  expect(lines.slice(3)).toEqual([
    'Endpoint chat is not as configured: target_util is not set, not 0.9',
    'Endpoint chat, as the service has it: 1 warning',
    'Endpoint code was last seen 5 min ago',
    'Endpoint code replaced 3 workers',
    'Endpoint code: 2 workers err again and again',
    'Endpoint code: 1 worker has been loading far longer than the others',
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
