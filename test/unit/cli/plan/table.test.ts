/** A plan in the terminal, to the character. */
import { describe, expect, test } from 'vitest';
import { searchSentence, sensitivityLines, planTable } from '../../../../src/cli/plan/table.ts';
import { DEFAULT_FILLED_IN, resolveDefaults } from '../../../../src/scaling/rules/check.ts';
import { candidate, givenPlan, givenReport, givenSearch } from '../../../support/given-plan.ts';

const finding = (rule: string, message: string) =>
  ({ rule, severity: 'warning', parameter: 'cold_mult', got: 1, allowed: 'more', message }) as const;

test('one set: the load, every parameter, every figure, and every assumption with its flag', () => {
  const plan = givenPlan({ findings: [finding(DEFAULT_FILLED_IN, 'filled in'), finding('r', 'too small')] });
  expect(planTable(givenReport([plan]))).toEqual([
    'requests.csv: 1,200 requests in 20 min, 50 units/s on average',
    'work of a request: GeneratedTokens',
    '',
    'min_load                                    0',
    'min_cold_load                               0',
    'target_util                               0.9',
    'cold_mult                                 2.5',
    'cold_workers                                5',
    'max_workers                                 8',
    'max_queue_time                             30',
    'target_queue_time                          10',
    '',
    'queue time, mean                        0.5 s',
    'queue time, p50                         50 ms',
    'queue time, p95                           3 s',
    'queue time, p99                       2.5 min',
    'queue time, longest                     2.5 h',
    'waited over target_queue_time    12.5% (10 s)',
    'waited over max_queue_time     < 0.01% (30 s)',
    'gave up waiting                    0% (never)',
    'hot workers, mean and most               6, 7',
    'workers in all, most                        8',
    'starts from cold                            3',
    'starts from nothing                         5',
    'utilisation                             88.9%',
    'worker hours, hot                         2.5',
    'worker hours, cold                       0.25',
    'worker hours, starting                    0.5',
    'cost                                    1,235',
    'cost an hour                             6.96',
    'cost of 1,000 requests                 0.0389',
    '',
    'warning: cold_mult: too small',
    'Given: --performance 10',
    'Assumed; each flag changes it (--help says what it means):',
    '  --start-time 300s  --cold-start 30s  --price-hot 1  --price-cold 0.05  --price-starting 1',
    '  --slots 1  --control-interval 5s  --load-window 60s  --scale-down-delay 60s  --destroy-delay 1800s',
    '  --queue-response clear  --routing shortest  --stopping drain  --initial-workers floor',
    '  --give-up never  --seed 1',
    'Not in the model:',
    ...givenReport([plan]).notModelled.map((line) => `  - ${line}`),
    'This is a model of the service, made from its documentation: the figures are for comparing, not for billing.',
  ]);
});

test('several sets: those parameters that differ, a column for each, and whose advice it is', () => {
  const parameters = resolveDefaults({ max_workers: 12, endpoint_name: 'chat' });
  const estimate = (mean: number, by: number) => ({ mean, low: mean - by, high: mean + by });
  const estimates = { seeds: 4, costPerHour: estimate(6, 8), p99Seconds: estimate(3, 1) };
  const lines = planTable(
    givenReport([
      givenPlan({ label: 'lean', estimates, findings: [finding('r', 'too small')] }),
      givenPlan({ label: 'rich', parameters, loadSeconds: 0, seconds: 0 }),
    ]),
  );
  expect(lines.slice(3, 7)).toEqual([
    '                                                  lean            rich',
    'max_workers                                          8              12',
    '',
    'queue time, mean                                 0.5 s           0.5 s',
  ]);
  expect(lines).toContain('hot workers, mean and most                        6, 7            0, 7');
  expect(lines.filter((line) => line.includes('mean of 4 loads'))).toEqual([
    'queue time, p99, mean of 4 loads      3 s (2 s to 4 s)',
    'cost an hour, mean of 4 loads     6.00 (0.00 to 14.00)',
  ]);
  expect(lines).toContain('lean: warning: cold_mult: too small');
});

test('a load says its peak where there is a series, and its own time where it has one', () => {
  const [none, at] = [[null], [0]];
  const series = {
    intervalSeconds: 60,
    atSeconds: at,
    load: [40, 95, 7],
    capacity: at,
    hot: at,
    cold: at,
    starting: at,
    queueP50: none,
    queueP95: none,
    queueP99: none,
    cost: at,
  };
  const [sentence] = planTable(givenReport([givenPlan({ series, loadSeconds: 0 })]));
  expect(sentence).toBe(
    'requests.csv: 1,200 requests in 25 min, 40 units/s on average, 95 at the peak (mean of 60 s)',
  );
  const [empty] = planTable(givenReport([givenPlan({ loadSeconds: 0, seconds: 0 })]));
  expect(empty).toBe('requests.csv: 1,200 requests in 0 s, 0 units/s on average');
});

test('weights that were guessed are assumed, and a value of several words is quoted', () => {
  const load = { name: 'x', work: '\u001B[2Jy', workGuessed: true };
  const assumptions = [{ flag: '--weight', value: 'in tokens=1', given: false, measured: false, doc: '' }];
  const lines = planTable(givenReport([givenPlan()], { load, assumptions }));
  expect(lines[1]).toBe('work of a request: y (assumed; --weight COLUMN=UNITS says otherwise)');
  expect(lines).toContain('  --weight "in tokens=1"');
  expect(lines.join('\n')).not.toContain('Given:');
});

describe('a search', () => {
  test('is a verdict, and the sets that no other beats', () => {
    const search = givenSearch();
    const lines = planTable(givenReport([givenPlan()], { search }));
    expect(lines.slice(3, 5)).toEqual([
      '6 sets tried, 4 of them completely; 3 that no other beats in both cost and p99:',
      '',
    ]);
    expect(lines.slice(5, 12)).toEqual([
      '   cost    p99  target_util  cold_mult  cold_workers  min_load',
      '  10.00  100 s          0.8          2             3        40',
      '  20.00    1 s          0.8          2             3        40',
      '  30.00   1 ms          0.8          2             3        40',
      '',
      'Cheapest with p99 at most 5 s: target_util 0.8, cold_mult 2, cold_workers 3, min_load 40 (p99 1 s, cost 20.00, 10.00 an hour). Its plan:',
      '',
    ]);
    const without = planTable(givenReport([givenPlan()], { search: givenSearch({ best: undefined }) }));
    expect(without[10]).toBe(
      'None of them has a p99 of at most 5 s; the quickest has 1 ms. The plan of the parameters given:',
    );
    const open = givenSearch({ p99LimitSeconds: undefined });
    expect(planTable(givenReport([givenPlan()], { search: open })).join('\n')).not.toContain(' plan');
    expect(searchSentence(open)).toBeUndefined();
    expect(searchSentence(givenSearch({ best: undefined, frontier: [] }))).toMatch(/the quickest has 0 s$/);
  });

  test('shows twelve of many sets, the first and the last among them', () => {
    const frontier = Array.from({ length: 40 }, (_, index) => candidate(index, 40 - index));
    const lines = planTable(givenReport([givenPlan()], { search: givenSearch({ frontier }) }));
    const rows = lines.filter((line) => line.endsWith('        40'));
    expect(rows).toHaveLength(12);
    expect([rows[0], rows[11]]).toEqual([
      '   0.00  40 s          0.8          2             3        40',
      '  39.00   1 s          0.8          2             3        40',
    ]);
  });
});

describe('what a plan hangs on', () => {
  const same = { costPerHour: 6.956, p99Seconds: 150 };
  const other = (costPerHour: number) => ({ costPerHour, p99Seconds: 30 });

  test('is the first that moves anything, with two more', () => {
    const sensitivity = [
      { setting: 'controlSeconds', half: { ...same, costPerHour: 6.9561 }, double: same },
      { setting: 'performance', half: same, double: other(3) },
      { setting: 'startSeconds', half: other(5), double: same },
      { setting: 'coldStartSeconds', half: other(4), double: other(9) },
      { setting: 'loadWindowSeconds', half: other(4), double: other(9) },
    ] as const;
    expect(sensitivityLines(givenReport([givenPlan()], { sensitivity }))).toEqual([
      'The result depends most on --performance (cost an hour 6.96, p99 2.5 min):',
      '  --performance: half of it costs 6.96, p99 2.5 min; double costs 3.00, p99 30 s',
      '  --start-time: half of it costs 5.00, p99 30 s; double costs 6.96, p99 2.5 min',
      '  --cold-start: half of it costs 4.00, p99 30 s; double costs 9.00, p99 30 s',
    ]);
  });

  test('may be nothing, and is not said where nobody asked', () => {
    const sensitivity = [{ setting: 'performance', half: same, double: same }] as const;
    expect(sensitivityLines(givenReport([givenPlan()], { sensitivity }))).toEqual([
      'Halving or doubling any one assumption changes neither cost nor p99.',
    ]);
    expect(sensitivityLines(givenReport([givenPlan()]))).toEqual([]);
    expect(sensitivityLines(givenReport([], { sensitivity }))).toEqual([]);
  });
});
