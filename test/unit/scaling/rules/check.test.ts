import { describe, expect, test } from 'vitest';
import {
  ENDPOINT_GROUP_DEFAULTS,
  ENDPOINT_GROUP_PARAMETERS,
  MEANINGS,
  type EndpointGroupParameters,
} from '../../../../src/contract/operations/serverless/endpoint-groups.ts';
import {
  allowedValues,
  checkEndpointGroup,
  checkEndpointGroups,
  schemaOf,
} from '../../../../src/scaling/rules/check.ts';
import { gotInWords, RULES, type WorkerFacts } from '../../../../src/scaling/rules/rules.ts';

function rulesOf(group: unknown, facts?: WorkerFacts): string[] {
  return checkEndpointGroup(group, facts)
    .findings.filter(({ rule }) => rule !== 'default-filled-in')
    .map(({ rule, severity }) => `${severity} ${rule}`);
}

type Case = [rule: string, triggers: unknown, doesNot: EndpointGroupParameters, facts?: WorkerFacts];

const NUMERIC = ENDPOINT_GROUP_PARAMETERS.filter((parameter) => parameter !== 'endpoint_name');
const notNumbers = NUMERIC.flatMap((parameter): Case[] => {
  const id = `error ${parameter.replaceAll('_', '-')}`;
  return [
    [`${id}-type`, { [parameter]: '1' }, { [parameter]: 1 }],
    [`${id}-finite`, { [parameter]: Number.NaN }, { [parameter]: 1 }],
  ];
});

/** A case that triggers each rule, and one a hair away that does not. */
const cases: Case[] = [
  ...notNumbers,
  ['error target-util-range', { target_util: 1 + Number.EPSILON }, { target_util: 1 }],
  ['error target-util-range', { target_util: 90 }, { target_util: 0.9 }],
  ['error target-util-range', { target_util: 0 }, { target_util: Number.MIN_VALUE }],
  ['error min-load-finite', { min_load: Infinity }, { min_load: Number.MAX_VALUE }],
  ['error min-load-range', { min_load: -Number.MIN_VALUE }, { min_load: 0 }],
  ['error min-load-type', { min_load: null }, { min_load: 1 }],
  ['error min-cold-load-range', { min_cold_load: -Number.MIN_VALUE }, { min_cold_load: 0 }],
  ['error cold-workers-type', { cold_workers: 0.5 }, { cold_workers: 1 }],
  ['error inactivity-timeout-range', { inactivity_timeout: 2 ** 53 }, { inactivity_timeout: 2 ** 53 - 1 }],
  ['error endpoint-name-type', { endpoint_name: 3 }, { endpoint_name: '3' }],
  ['warning shell-characters-in-name', { endpoint_name: 'chat (new)' }, { endpoint_name: 'chat new, 2.0/ä' }],
  ['warning shell-characters-in-name', { endpoint_name: 'a;b' }, { endpoint_name: 'a-b_c:d' }],
  ['error max-workers-range', { max_workers: 0 }, { max_workers: 1, cold_workers: 1 }],
  ['error max-workers-type', { max_workers: 1.5 }, { max_workers: 20 }],
  ['error cold-workers-range', { cold_workers: -1 }, { cold_workers: 0, min_load: 1 }],
  ['error cold-mult-range', { cold_mult: -Number.MIN_VALUE }, { cold_mult: 0 }],
  ['error max-queue-time-range', { max_queue_time: -Number.MIN_VALUE }, { max_queue_time: 0 }],
  ['error target-queue-time-range', { target_queue_time: -Number.MIN_VALUE }, { target_queue_time: 0 }],
  ['error inactivity-timeout-type', { inactivity_timeout: 0.5 }, { inactivity_timeout: 60 }],
  ['error endpoint-name-range', { endpoint_name: '' }, { endpoint_name: 'a' }],
  ['error unknown-parameter', { max_worker: 3 }, { max_workers: 30 }],
  ['error not-an-object', 7, {}],
  ['error cold-workers-above-max', { cold_workers: 4, max_workers: 3 }, { cold_workers: 3, max_workers: 3 }],
  ['warning default-cold-workers-above-max', { max_workers: 4 }, { max_workers: 5 }],
  ['warning target-util-no-headroom', { target_util: 0.95 + Number.EPSILON }, { target_util: 0.95 }],
  ['warning target-util-idle-capacity', { target_util: 0.3 - Number.EPSILON }, { target_util: 0.3 }],
  ['warning cold-mult-below-one', { cold_mult: 1 - Number.EPSILON }, { cold_mult: 1 }],
  [
    'warning queue-target-after-limit',
    { target_queue_time: 30 + 1e-9, max_queue_time: 30 },
    { target_queue_time: 30, max_queue_time: 30 },
  ],
  ['warning cold-workers-equal-max', { cold_workers: 5, max_workers: 5 }, { max_workers: 6 }],
  ['warning no-floor', { min_load: 0, cold_workers: 0 }, { min_load: 0, cold_workers: 1 }],
  ['warning no-floor', { cold_workers: 0 }, { min_load: Number.MIN_VALUE, cold_workers: 0 }],
  ['warning no-floor', { cold_workers: 0 }, { cold_workers: 0, inactivity_timeout: 60 }],
  [
    'warning cold-floor-below-floor',
    { min_load: 10, min_cold_load: 1e-9 },
    { min_load: 10, min_cold_load: 0 },
  ],
  [
    'warning cold-floor-below-floor',
    { min_load: 10, min_cold_load: 10 - 1e-9 },
    { min_load: 10, min_cold_load: 10 },
  ],
  [
    'warning floor-above-capacity',
    { min_load: 90.0001, max_workers: 10, target_util: 0.9 },
    { min_load: 90, max_workers: 10, target_util: 0.9 },
    { workerPerformance: 10 },
  ],
  [
    'warning inactivity-shorter-than-start',
    { inactivity_timeout: 59 },
    { inactivity_timeout: 60 },
    { coldStartSeconds: 60 },
  ],
  ['note inactivity-never', { inactivity_timeout: -1 }, { inactivity_timeout: 0 }],
  ['note inactivity-no-gate', { inactivity_timeout: 0 }, { inactivity_timeout: 1 }],
];

/** Every id that the check can give: the rules over values together, and those that the contract's types make. */
function everyRule(): string[] {
  const ofValues = ENDPOINT_GROUP_PARAMETERS.flatMap((parameter) => {
    const name = parameter.replaceAll('_', '-');
    if (parameter === 'endpoint_name') return [`${name}-type`, `${name}-range`];
    return [`${name}-type`, `${name}-range`, `${name}-finite`];
  });
  const together = Object.entries(RULES).map(([id, { severity = 'warning' }]) => `${severity} ${id}`);
  return [
    ...ofValues.map((id) => `error ${id}`),
    ...together,
    'error unknown-parameter',
    'error not-an-object',
  ];
}

describe('endpoint-group rules', () => {
  test('each has a case here', () => {
    expect(new Set(cases.map(([rule]) => rule))).toEqual(new Set(everyRule()));
  });

  test('each says why it matters to someone who has never seen the parameter', () => {
    for (const [, group, , facts] of cases) {
      for (const { message, allowed } of checkEndpointGroup(group, facts).findings) {
        expect(message.length).toBeGreaterThan(15);
        expect(message + allowed).not.toMatch(/undefined|NaN|\[object/);
      }
    }
  });

  test('a floor that is exactly what the workers can carry is not above it, whatever 90 / 0.9 is', () => {
    for (let workers = 1; workers <= 100; workers += 1) {
      const group = { min_load: workers * 9, max_workers: workers, target_util: 0.9, cold_workers: 0 };
      expect(rulesOf(group, { workerPerformance: 10 })).not.toContain('warning floor-above-capacity');
    }
  });

  test.each(cases)('%s is reported for %j and not for %j', (rule, triggers, doesNot, facts) => {
    expect(rulesOf(triggers, facts)).toContain(rule);
    expect(rulesOf(doesNot, facts)).not.toContain(rule);
  });

  test('a row of the service is read for its parameters: null is unset, and other fields are its own', () => {
    const row = { id: 31, api_key: 'sekret', user_id: 1, inactivity_timeout: null, cold_mult: '1.5' };
    const { parameters, findings } = checkEndpointGroup({ ...row, max_workers: 0 });
    expect(findings.map(({ rule }) => rule)).toEqual(['max-workers-range']);
    expect(parameters).toBeUndefined();
    expect(checkEndpointGroup(row).parameters).toMatchObject({
      cold_mult: 1.5,
      inactivity_timeout: undefined,
    });
    const texts = { id: 31, endpoint_name: '7', cold_mult: 'two', min_load: ' ' };
    expect(checkEndpointGroup(texts).findings).toMatchObject([
      { rule: 'min-load-type', got: ' ' },
      { rule: 'cold-mult-type', got: 'two' },
    ]);
  });

  test('the schema of a parameter is known by its name', () => {
    for (const name of [...ENDPOINT_GROUP_PARAMETERS, 'overrecruit_ratio'])
      expect(schemaOf(name)?.safeParse({}).success).toBe(false);
    expect(schemaOf('constructor')).toBeUndefined();
  });

  test('a parameter by the name that the service has for it elsewhere is told by its own', () => {
    const [finding] = checkEndpointGroup({ min_workers: 3 }).findings;
    expect(finding?.message).toBe('no such parameter; did you mean cold_workers?');
  });

  test('an empty object takes every default of the interface and is otherwise fine', () => {
    const { parameters, findings } = checkEndpointGroup({});
    expect(parameters).toMatchObject(ENDPOINT_GROUP_DEFAULTS);
    const filledIn = { rule: 'default-filled-in', severity: 'note' };
    expect(findings).toMatchObject(Object.keys(ENDPOINT_GROUP_DEFAULTS).map(() => filledIn));
    const others = checkEndpointGroup({ cold_mult: 1 }).findings.map(({ parameter }) => parameter);
    expect(others).not.toContain('cold_mult');
  });

  test('reports every problem of a group at once, naming value and what is allowed', () => {
    expect(checkEndpointGroup(7).findings).toMatchObject([
      { rule: 'not-an-object', parameter: '', got: 7, message: 'each endpoint group is one JSON object' },
    ]);
    expect(checkEndpointGroup(7).findings[0]?.allowed).toContain('{"target_util": 0.9}');
    expect(checkEndpointGroup({ colour: 3 }).findings).toMatchObject([{ message: 'no such parameter' }]);
    const { findings } = checkEndpointGroup({ target_util: 1.5, max_worker: 3 });
    expect(findings).toEqual([
      expect.objectContaining({
        rule: 'target-util-range',
        got: 1.5,
        allowed: 'a number above 0 and at most 1',
      }),
      expect.objectContaining({
        rule: 'unknown-parameter',
        parameter: 'max_worker',
        got: undefined,
        message: 'no such parameter; did you mean max_workers?',
      }),
    ]);
    expect(findings.map(gotInWords)).toEqual(['1.5', 'a value']);
  });

  test.each<[group: object, hint: string]>([
    [{ target_util: 90 }, '; it is a fraction: for 90 percent write 0.9'],
    [{ target_util: 5 }, '; it is a fraction: for 5 percent write 0.05'],
    [{ target_util: 100 }, '; it is a fraction: for 100 percent write 1'],
    [{ target_util: 4.9 }, ''],
    [{ target_util: 101 }, ''],
    [{ max_workers: 12.5 }, ''],
    [{ max_workers: 1e308 }, '; at most 9007199254740991'],
    [{ max_workers: '12' }, '; write it without quotes: 12'],
    [{ target_util: '90' }, '; write it without quotes: 90'],
    [{ max_workers: 'many' }, ''],
    [{ max_workers: ' ' }, ''],
    [{ max_workers: null }, ''],
  ])('says what was probably meant by %j', (group, hint) => {
    const [finding, ...more] = checkEndpointGroup(group).findings.filter(
      ({ severity }) => severity === 'error',
    );
    expect(more).toEqual([]);
    const [parameter = ''] = Object.keys(group);
    expect(finding?.message).toBe(`${MEANINGS[parameter as keyof typeof MEANINGS]}${hint}`);
  });

  test.each([
    [undefined, 'nothing'],
    [0.5, '0.5'],
    [Number.NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['12', '"12"'],
    [null, 'null'],
    [[1], 'a list'],
    [{}, 'an object'],
    [() => 1, 'function'],
  ])('says what it got as its user wrote it: %s', (got, words) => {
    const finding = { rule: '', severity: 'error', parameter: '', got, allowed: '', message: '' } as const;
    expect(gotInWords(finding)).toBe(words);
  });
});

test('a worker group is told what the engine takes from its endpoint, and the public overrecruit_ratio is allowed', () => {
  const row = { id: 9, endpoint_id: 31, cold_workers: 3, max_workers: 2, min_load: null, api_key: 'secret' };
  const without = (given: object) =>
    checkEndpointGroup(given)
      .findings.filter(({ rule }) => rule === 'worker-group-parameter')
      .map(({ parameter, got }) => [parameter, got]);
  expect(without(row)).toEqual([['cold_workers', 3]]);
  expect(without({ id: 31, cold_workers: 3 })).toEqual([]);
  expect(checkEndpointGroup(row).findings.find(({ severity }) => severity === 'warning')).toMatchObject({
    allowed: expect.stringContaining('endpoint only') as string,
    message: expect.stringContaining('no effect on a worker group') as string,
  });
  const errors = (given: object) =>
    checkEndpointGroup(given).findings.filter(({ severity }) => severity === 'error');
  expect(errors(row)).toEqual([]);
  expect(errors({ overrecruit_ratio: 1.5 })).toEqual([]);
  expect(errors({ overrecruit_ration: 1 })).toMatchObject([
    {
      allowed: expect.stringContaining('overrecruit_ratio'),
      message: expect.stringContaining('overrecruit_ratio?'),
    },
  ]);
  expect(errors({ id: 31, overrecruit_ratio: 0 })).toMatchObject([{ got: 0 }]);
  expect(errors({ overrecruit_ratio: 0 })).toMatchObject([{ got: 0, allowed: 'a number above 0' }]);
});

test('groups are labelled by name, by number where they share one, by place without', () => {
  const groups = [
    { endpoint_name: 'chat' },
    {},
    { endpoint_name: 'chat' },
    null,
    undefined,
    { endpoint_name: '' },
    { endpoint_name: 7 },
    { endpoint_name: 'chat' },
  ];
  const checked = checkEndpointGroups(groups);
  expect(checked.map(({ label }) => label)).toEqual([
    'chat',
    '#2',
    'chat#2',
    '#4',
    '#5',
    '#6',
    '#7',
    'chat#3',
  ]);
  const shared = checked.flatMap(({ label, findings }) =>
    findings
      .filter(({ rule }) => rule === 'shared-endpoint-name')
      .map((finding) => [label, finding] as const),
  );
  expect(shared.map(([label]) => label)).toEqual(['chat#2', 'chat#3']);
  expect(shared[0]?.[1]).toEqual({
    rule: 'shared-endpoint-name',
    severity: 'note',
    parameter: 'endpoint_name',
    got: 'chat',
    allowed: 'several groups may share one endpoint',
    message: 'another group above serves the same endpoint: requests are spread over both',
  });
});

test.each([
  ['endpoint_name', 'a string that is not empty'],
  ['target_util', 'a number above 0 and at most 1'],
  ['min_load', 'a number of at least 0'],
  ['max_workers', 'an integer of at least 1'],
  ['inactivity_timeout', 'an integer'],
] as const)('%s may be %s', (parameter, words) => {
  expect(allowedValues(parameter)).toBe(words);
});

test.each<[rule: string, group: EndpointGroupParameters, facts: WorkerFacts, words: string | undefined]>([
  ['target-util-idle-capacity', { target_util: 0.15 }, {}, 'pays for 6.7 times'],
  [
    'floor-above-capacity',
    { min_load: 95, target_util: 0.5, max_workers: 2 },
    { workerPerformance: 20 },
    'needs 10 workers at 20 units/s each, but max_workers is 2',
  ],
  [
    'floor-above-capacity',
    { min_load: 20, target_util: 0.5, max_workers: 2 },
    { workerPerformance: 20 },
    undefined,
  ],
  ['inactivity-shorter-than-start', { inactivity_timeout: 59 }, { coldStartSeconds: 60 }, '(60 s)'],
  ['inactivity-shorter-than-start', { inactivity_timeout: 0 }, { coldStartSeconds: 60 }, undefined],
  ['inactivity-shorter-than-start', { inactivity_timeout: -1 }, { coldStartSeconds: 60 }, undefined],
  ['inactivity-shorter-than-start', {}, { coldStartSeconds: 60 }, undefined],
])('%s of %j, knowing %j, says %j', (rule, group, facts, words) => {
  const message = checkEndpointGroup(group, facts).findings.find((finding) => finding.rule === rule)?.message;
  expect(message).toEqual(words && expect.stringContaining(words));
});
