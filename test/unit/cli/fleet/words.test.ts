import { describe, expect, test } from 'vitest';
import {
  historyBar,
  meansOver,
  STAGES_IN_WORDS,
  useBar,
  workersBar,
} from '../../../../src/cli/fleet/bars.ts';
import { createLiveScreen } from '../../../../src/cli/fleet/screen.ts';
import { fleetTable } from '../../../../src/cli/fleet/table.ts';
import {
  age,
  endpointInWords,
  fleetNotes,
  noEndpoints,
  numberOr,
  workersInWords,
} from '../../../../src/cli/fleet/words.ts';
import { pad, widthOf } from '../../../../src/cli/text/cell-width.ts';
import { coloured, plain } from '../../../../src/cli/text/tones.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import type { EndpointView, FleetView } from '../../../../src/fleet/view.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { endpointView, fleetView, sampleAt, UNSEEN } from '../../../support/recorded-fleet.ts';

const NOW = 1_000_000;

function statusOf(over: Partial<EndpointView> = {}, view: Partial<FleetView> = {}, budgetPerHour?: number) {
  const seen = { sample: sampleAt(NOW * 1000), sampledAtMs: NOW * 1000 };
  const fleet = fleetStatus(fleetView([endpointView({ ...seen, ...over })], view), {
    endpoints: [{ by: 'all' as const }],
    fleetInterval: 15_000,
    budgetPerHour,
  });
  return { fleet, endpoint: fleet.endpoints[0]! };
}

function words(over: Partial<EndpointView> = {}, now = NOW): string {
  const { fleet, endpoint } = statusOf(over);
  return endpointInWords(endpoint, fleet, now);
}

describe('an endpoint in words', () => {
  test.each<[string, Partial<EndpointView>, string]>([
    [
      'all of it',
      {},
      'active, load 42 of 60 ready (70%), 100 cold, 6 idle, 2 model_loading, 10 stopped, 3.20 an hour, seen 0 s ago',
    ],
    ['nothing', UNSEEN, 'state not known, load ? of ? ready, workers not known, price not known, never seen'],
    [
      'no workers',
      {
        sample: sampleAt(NOW * 1000, { capacity_hot: 0, capacity_cold: null, cost_per_hour: 0 }, { idle: 0 }),
      },
      'active, load 42 of 0 ready, no workers, 0.00 an hour, seen 0 s ago',
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

  test('numbers and workers that are not there', () => {
    expect([numberOr(null), numberOr(0), workersInWords({ idle: 0 }), workersInWords({})]).toEqual([
      '?',
      '0',
      '',
      '',
    ]);
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

  test.each([
    ['standby', true, 'another replica watches the endpoints: ask that one'],
    ['alone', true, 'no endpoint of PILOTLIGHT_ENDPOINTS is found'],
    ['alone', false, 'the daemon watches no endpoint (PILOTLIGHT_ENDPOINTS)'],
  ] as const)('why there are none: %s, %j', (role, samples, expected) => {
    const replica = { ...EMPTY_STATUS.replica, role };
    expect(noEndpoints({ fleet: { ...EMPTY_STATUS.fleet, samples }, replica })).toBe(expected);
  });
});

describe('bars', () => {
  test('each kind of worker has its sign and its tone', () => {
    expect(workersBar({ idle: 1, loading: 1, stopped: 1, error: 1, destroying: 1 }, 16)).toEqual([
      { text: '█', tone: 'good' },
      { text: '▒', tone: 'warn' },
      { text: '░', tone: 'quiet' },
      { text: '×', tone: 'bad' },
      { text: '·', tone: 'quiet' },
    ]);
    expect(STAGES_IN_WORDS).toBe('█ ready ▒ starting ░ cold × error');
  });

  test.each([
    [0.9, 'good'],
    [0.901, 'warn'],
    [1, 'warn'],
    [1.001, 'bad'],
    [-1, 'good'],
  ])('a use of %d is %s', (share, tone) => {
    const [full, rest] = useBar(share, 8);
    expect([full?.tone, rest?.tone]).toEqual([tone, 'quiet']);
    expect(`${full?.text}${rest?.text}`).toHaveLength(8);
  });

  test('a cell of a history is as high as its part of the most', () => {
    expect(historyBar([1, 2, 3, 4, 5, 6, 7, 8])).toBe('▂▃▄▅▆▇██');
    expect(meansOver([], 0, 10, 2)).toEqual([null, null]);
  });
});

describe('the live table', () => {
  test('is drawn from the top only where the terminal has changed, and where there is something to go back over', () => {
    const screen = createLiveScreen();
    const size = { columns: 20, rows: 3 };
    expect(screen.frame([], size)).toBe('\u001B[?25l\u001B[J');
    expect(screen.frame(['a'], size)).toBe('a\u001B[K\n\u001B[J');
    expect(screen.frame(['a', 'b'], size)).toBe('\u001B[1A\ra\u001B[K\nb\u001B[K\n\u001B[J');
    expect(screen.frame(['a', 'b', 'c'], size)).toBe(
      '\u001B[2A\ra\u001B[K\n… 2 more lines\u001B[K\n\u001B[J',
    );
    expect(screen.frame(['a'], { ...size, columns: 21 })).toMatch(/^\u001B\[2J\u001B\[Ha/);
    expect(screen.frame(['a', 'b'], { columns: 21, rows: 1 })).toContain('\r… 2 more lines');
    expect(screen.end()).toBe('\u001B[?25h');
  });

  test('lets columns go by their rank, and a long name gives way first', () => {
    const { fleet } = statusOf({ endpoint: 'x'.repeat(40), sample: sampleAt(NOW * 1000, {}, { idle: 1 }) });
    const seen = { fleet, none: '', history: undefined, now: NOW };
    const heading = (columns: number) => fleetTable(seen, { columns, hasColours: false })[0];
    const full =
      'STATE   LOAD / READY  USE               WORKERS          COST/H  REQS  LOAD, LAST HOUR  SEEN';
    expect(heading(200)).toBe(`${'ENDPOINT'.padEnd(32)}  ${full}`);
    expect(heading(60)?.startsWith('ENDPOINT  ')).toBe(true);
    expect(fleetTable(seen, { columns: 12, hasColours: false }).slice(0, 2)).toEqual([
      'ENDPOINT',
      'xxxxxxxxxxx…',
    ]);
    expect(fleetTable(seen, { columns: 3, hasColours: false })[1]).toBe('xx…');
  });
});

test('a text is as wide as its characters are on a terminal, filled up or cut', () => {
  expect([widthOf('日本'), widthOf('ｶﾅ'), widthOf('é'), widthOf('')]).toEqual([4, 2, 1, 0]);
  expect([pad('ab', 4), pad('abcd', 4), pad('abcde', 4), pad('日本語', 5), pad('日本語', 4)]).toEqual([
    'ab  ',
    'abcd',
    'abc…',
    '日本…',
    '日… ',
  ]);
  expect(pad('ab', 1)).toBe('…');
});

test('a colour is for text that is seen, on a terminal that has colours', () => {
  expect(coloured('a', 'bad', true)).toBe('\u001B[31ma\u001B[0m');
  expect([coloured('a', 'bad', false), coloured('a', 'plain', true), coloured(' ', 'bad', true)]).toEqual([
    'a',
    'a',
    ' ',
  ]);
  expect(plain('a')).toEqual([{ text: 'a', tone: 'plain' }]);
});
