/** What findings say: people act on the words and the figures in them. */
import { describe, expect, test } from 'vitest';
import {
  allowedValues,
  checkEndpointGroup,
  checkEndpointGroups,
} from '../../../../src/scaling/rules/check.ts';
import { gotInWords, type Finding, type WorkerFacts } from '../../../../src/scaling/rules/findings.ts';

function found(rule: string, group: unknown, facts?: WorkerFacts): Finding | undefined {
  return checkEndpointGroup(group, facts).findings.find((finding) => finding.rule === rule);
}

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

test('what is no object, what nobody knows, and what is filled in', () => {
  expect(found('not-an-object', 7)).toEqual({
    rule: 'not-an-object',
    severity: 'error',
    parameter: '',
    got: 7,
    allowed: 'an object of parameters such as {"target_util": 0.9}',
    message: 'each endpoint group is one JSON object',
  });
  expect(found('unknown-parameter', { max_worker: 3 })).toMatchObject({
    message: 'no such parameter; did you mean max_workers?',
    allowed: expect.stringContaining('min_load, min_cold_load'),
  });
  expect(found('unknown-parameter', { colour: 3 })?.message).toBe('no such parameter');
  expect(found('default-filled-in', {})).toMatchObject({ severity: 'note' });
});

test('the values that are allowed', () => {
  expect(allowedValues('endpoint_name')).toBe('a string that is not empty');
  expect(allowedValues('target_util')).toBe('a number above 0 and at most 1');
  expect(allowedValues('min_load')).toBe('a number of at least 0');
  expect(allowedValues('max_workers')).toBe('an integer of at least 1');
  expect(allowedValues('inactivity_timeout')).toBe('an integer');
});

describe('what was probably meant', () => {
  const messageOf = (value: unknown) =>
    checkEndpointGroup({ target_util: value }).findings.find(({ severity }) => severity === 'error')?.message;

  test.each([
    [90, '; it is a fraction: for 90 percent write 0.9'],
    [5, '; it is a fraction: for 5 percent write 0.05'],
    [100, '; it is a fraction: for 100 percent write 1'],
    ['0.9', '; write it without quotes: 0.9'],
  ])('%j', (value, hint) => {
    expect(messageOf(value)).toContain(hint);
  });

  test.each([[4.9], [101], [' '], ['much'], ['Infinity']])('%j: nobody knows', (value) => {
    expect(messageOf(value)).not.toMatch(/;.*write/);
  });
});

describe('figures in messages', () => {
  test('the capacity that is paid for', () => {
    expect(found('target-util-idle-capacity', { target_util: 0.15 })?.message).toContain(
      'pays for 6.7 times',
    );
  });

  test('the workers that a floor needs', () => {
    const group = { min_load: 95, target_util: 0.5, max_workers: 2 };
    expect(found('floor-above-capacity', group, { workerPerformance: 20 })?.message).toMatch(
      /^needs 10 workers at 20 units\/s each, but max_workers is 2/,
    );
    expect(
      found('floor-above-capacity', { ...group, min_load: 20 }, { workerPerformance: 20 }),
    ).toBeUndefined();
  });

  test('the start that is longer than the wait, where there is one', () => {
    const rule = 'inactivity-shorter-than-start';
    const facts = { coldStartSeconds: 60 };
    expect(found(rule, { inactivity_timeout: 59 }, facts)?.message).toContain('(60 s)');
    for (const inactivity_timeout of [0, -1, 60, undefined])
      expect(found(rule, { inactivity_timeout }, facts)).toBeUndefined();
  });
});

test('what was given is shown as it was written', () => {
  const shown = (got: unknown) => gotInWords({ got } as Finding);
  expect([undefined, Number.NaN, 'a', [1], () => {}].map(shown)).toEqual([
    'nothing',
    'NaN',
    '"a"',
    'a list',
    'function',
  ]);
});
