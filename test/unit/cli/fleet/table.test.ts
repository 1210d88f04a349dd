import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/text/cell-width.ts';
import { fleetTable, type Seen } from '../../../../src/cli/fleet/table.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import { fleetRow } from '../../../../src/daemon/http/fleet/answer.ts';
import type { EndpointView } from '../../../../src/fleet/view.ts';
import { endpointView, fleetView, minuteRow, sampleAt, UNSEEN } from '../../../support/recorded-fleet.ts';

const NOW = 1_000_000;

function seen(endpoints: readonly Partial<EndpointView>[], budgetPerHour?: number): Seen {
  const views = endpoints.map((over) =>
    endpointView({ sample: sampleAt(NOW * 1000), sampledAtMs: (NOW - 4) * 1000, ...over }),
  );
  const rows = [0, 30, 59].map((minute, index) =>
    fleetRow(minuteRow((NOW - 3600 + minute * 60) * 1000, { load: 10 * (index + 1) })),
  );
  return {
    fleet: fleetStatus(fleetView(views), {
      endpoints: [{ by: 'all' as const }],
      fleetInterval: 15_000,
      budgetPerHour,
    }),
    history: {
      from: NOW - 3600,
      to: NOW,
      endpoints: [
        {
          endpoint_group: 'chat',
          endpoint_id: 31,
          measured: { performance: [], start_seconds: { new: [], cold: [] } },
          rows,
        },
      ],
    },
    none: '',
    now: NOW,
  };
}

const PLAIN = { columns: 200, hasColours: false };

test('a line for each endpoint, with small bars', () => {
  const unseen = { endpoint: 'new', ...UNSEEN };
  expect(fleetTable(seen([{}, unseen]), PLAIN)).toEqual([
    'ENDPOINT  STATE   LOAD / READY  USE               WORKERS                                                SPEND/H  REQS  LOAD, LAST HOUR       SEEN',
    'chat      active  42 / 60       ████████▍░░░ 70%  █████▒▒░░░░░░░░░  6 idle, 2 model_loading, 10 stopped  3.20     12    ▃         ▆        █  4 s',
    'new       ?       ? / ?         ?                 ?                                                      ?        ?                           never',
    '█ ready ▒ starting ░ cold × error',
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
    { endpoint: 'new', ...UNSEEN },
  ];

  test.each([1, 8, 20, 40, 60, 80, 100, 120, 160, 240])('no line is wider than %i columns', (columns) => {
    const lines = fleetTable(seen(endpoints, 1), { columns, hasColours: true });
    for (const line of lines) expect(widthOf(stripVTControlCharacters(line))).toBeLessThanOrEqual(columns);
    expect(lines.length).toBeGreaterThan(5);
  });

  test('the name and the load are the last to go', () => {
    const [heading, first] = fleetTable(seen([{}]), { columns: 24, hasColours: false });
    expect([heading, first]).toEqual(['ENDPOINT  LOAD / READY', 'chat      42 / 60']);
  });
});

test('names of others are no commands to the terminal', () => {
  const lines = fleetTable(seen([{ endpoint: '\u001B[2Jevil\u202E', state: '\u001B]0;x\u0007on' }]), PLAIN);
  expect(lines.join('')).not.toContain('\u001B');
  expect(lines[1]).toMatch(/^evil +on /);
});

test('without colours there are none, and with them each line ends as it began', () => {
  expect(fleetTable(seen([{}]), PLAIN).join('')).not.toContain('\u001B');
  const coloured = fleetTable(seen([{}]), { ...PLAIN, hasColours: true });
  const codes = coloured.join('').split('\u001B[');
  expect(codes.length).toBeGreaterThan(5);
  expect(coloured.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(
    fleetTable(seen([{}]), PLAIN),
  );
  expect(codes.filter((code) => code.startsWith('0m')).length).toBe((codes.length - 1) / 2);
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
  const lines = fleetTable(
    seen(
      [
        { drift: [{ parameter: 'target_util', actual: null, wanted: 0.9 }], findings: [finding] },
        { endpoint: 'code', stuckWorkers: 1, failingWorkers: 2, sampledAtMs: (NOW - 300) * 1000 },
      ],
      5,
    ),
    PLAIN,
  );
  expect(lines.slice(4)).toEqual([
    'chat: target_util is not set, configured 0.9',
    'chat: warning: cold_mult: too small',
    'code: what is shown is 5 min old',
    'code: err again and again: 2 workers',
    'code: loading far longer than the others: 1 worker',
    'together 6.40 an hour, above PILOTLIGHT_BUDGET_PER_HOUR (5.00)',
  ]);
});

test('load without a ready worker, and no load, are said in words', () => {
  const none = { sample: sampleAt(0, { load: 5, capacity_hot: 0 }) };
  const idle = { endpoint: 'idle', sample: sampleAt(0, { load: 0, capacity_hot: 0 }) };
  const lines = fleetTable(seen([none, idle]), PLAIN);
  expect(lines[1]).toContain('none ready');
  expect(lines[2]).toContain('no load');
});

test('columns go by their rank, and a long name gives way first', () => {
  const long = seen([
    { endpoint: 'x'.repeat(40), sample: sampleAt(NOW * 1000, {}, { idle: 1 }), sampledAtMs: NOW * 1000 },
  ]);
  const within = (columns: number) => fleetTable({ ...long, history: undefined }, { ...PLAIN, columns });
  const full =
    'STATE   LOAD / READY  USE               WORKERS          SPEND/H  REQS  LOAD, LAST HOUR  SEEN';
  expect(within(200)[0]).toBe(`${'ENDPOINT'.padEnd(32)}  ${full}`);
  expect(within(60)[0]).toMatch(/^ENDPOINT {2}/);
  expect(within(12).slice(0, 2)).toEqual(['ENDPOINT', 'xxxxxxxxxxx…']);
  expect(within(3)[1]).toBe('xx…');
});
