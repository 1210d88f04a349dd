import { describe, expect, test } from 'vitest';
import { deploymentList } from '../../../../src/config/value-types.ts';
import {
  NOTHING_KNOWN,
  learnList,
  resolve,
  Selection,
  type Told,
  type TimingSettings,
  type Wanted,
} from '../../../../src/heartbeat/discovery/wanted.ts';

const AUTO: TimingSettings = { deploymentTtl: undefined, heartbeatInterval: 'auto' };

function wantedOf(text: string): readonly Wanted[] {
  const { value } = deploymentList.parse(text);
  if (value === undefined) throw new Error(`not a value of DEPLOYMENTS: ${text}`);
  return value;
}

function resolved(text: string, rows: readonly Told[] | undefined, settings = AUTO) {
  const wanted = wantedOf(text);
  const knowledge =
    rows === undefined ? NOTHING_KNOWN : learnList(NOTHING_KNOWN, rows, new Selection(wanted), 0);
  return resolve(wanted, knowledge, settings);
}

/** Id, TTL and interval of each choice. */
function timings(text: string, rows?: readonly Told[], settings?: TimingSettings) {
  return resolved(text, rows, settings).choices.map(({ id, ttl, interval }) => [id, ttl, interval]);
}

function findings(text: string, rows?: readonly Told[], settings?: TimingSettings) {
  return resolved(text, rows, settings).findings.filter(({ type }) => type !== 'matched');
}

describe('the TTL', () => {
  test.each<[string, string, Told['ttl'], number | undefined, string[]]>([
    ['is unknown where nobody says', '42', undefined, undefined, []],
    ['is what the user gave', '42@300s', undefined, 300_000, []],
    ['is what the service told', '42', 300, 300_000, []],
    ['may be a fraction of a second', '42', 12.5, 12_500, []],
    ['is the same in both', '42@300s', 300, 300_000, []],
    ['is the shorter one, the service’s', '42@300s', 60, 60_000, ['ttl-differs']],
    ['is the shorter one, the user’s', '42@60s', 300, 60_000, ['ttl-differs']],
    ['does not run where it lives until it is deleted', '42', null, undefined, []],
    ['runs all the same where the user gave one', '42@60s', null, 60_000, ['ttl-differs']],
    ['is unknown where it is negative', '42', -300, undefined, []],
    ['is unknown where it is a word', '42', 'soon' as unknown as number, undefined, []],
    ['is the user’s where the service’s is absurd', '42@60s', -1, 60_000, []],
    ['beats as fast as can be where it is too short', '42', 3, 3_000, ['ttl-too-short']],
    ['is timed as a second where it is shorter', '42', 0.001, 1_000, ['ttl-too-short']],
  ])('%s', (_, text, ttl, expected, types) => {
    const { choices, findings: found } = resolved(text, [{ id: 42, ...(ttl !== undefined && { ttl }) }]);
    expect(choices).toMatchObject([{ id: 42, interval: 'auto' }]);
    expect(choices[0]?.ttl).toBe(expected);
    expect(found.map(({ type }) => type)).toEqual(types);
  });

  test('that differs is said with both', () => {
    expect(
      findings('42@300s,43@60s', [
        { id: 42, ttl: 60 },
        { id: 43, ttl: null },
      ]),
    ).toEqual([
      { type: 'ttl-differs', id: 42, given: 300_000, learned: 60_000, used: 60_000 },
      { type: 'ttl-differs', id: 43, given: 60_000, learned: null, used: 60_000 },
    ]);
  });

  test('of those that have none of their own is DEPLOYMENT_TTL', () => {
    const settings = { ...AUTO, deploymentTtl: 60_000 };
    expect(timings('42,43@5m,44', [{ id: 44, ttl: 30 }], settings)).toEqual([
      [42, 60_000, 'auto'],
      [43, 300_000, 'auto'],
      [44, 30_000, 'auto'],
    ]);
  });
});

describe('a configured interval', () => {
  const settings = { ...AUTO, heartbeatInterval: 15_000 };

  test('holds where it suits the TTL, or where the TTL is unknown', () => {
    expect(timings('42,43', [{ id: 42, ttl: 60 }], settings)).toEqual([
      [42, 60_000, 15_000],
      [43, undefined, 15_000],
    ]);
    expect(findings('42,43', [{ id: 42, ttl: 60 }], settings)).toEqual([]);
  });

  test('gives way to the automatic one where a TTL that was learned is too short for it, and says so', () => {
    expect(timings('42', [{ id: 42, ttl: 8 }], settings)).toEqual([[42, 8_000, 'auto']]);
    const atMost = expect.any(Number) as number;
    expect(findings('42', [{ id: 42, ttl: 8 }], settings)).toMatchObject([
      { type: 'interval-too-long', id: 42, ttl: 8_000, interval: 15_000, atMost },
    ]);
  });

  test('gives way too where even the automatic one leaves no time', () => {
    expect(timings('42', [{ id: 42, ttl: 3 }], settings)).toEqual([[42, 3_000, 'auto']]);
    expect(findings('42', [{ id: 42, ttl: 3 }], settings)).toMatchObject([
      { type: 'ttl-too-short', ttl: 3_000 },
    ]);
  });
});

describe('a name', () => {
  const rows: readonly Told[] = [
    { id: 9, name: 'square', tag: 'blue', ttl: 60 },
    { id: 7, name: 'square', ttl: 300 },
    { id: 8, name: 'square', tag: null, ttl: 120 },
    { id: 3, name: 'circle', tag: 'blue' },
    { id: 4 },
    { id: 5, name: null },
  ];

  test.each([
    ['name:square', [7, 8, 9]],
    ['name:square/blue', [9]],
    ['name:square/default', [7, 8]],
    ['name:Square', []],
    ['name:square/green', []],
    ['name:square,name:circle', [7, 8, 9, 3]],
    ['name:square/blue,name:square', [9, 7, 8]],
    ['8,name:square', [8, 7, 9]],
  ])('%s is %j', (text, ids) => {
    expect(resolved(text, rows).choices.map(({ id }) => id)).toEqual(ids);
  });

  test.each([
    ['9,7,1', [undefined, undefined, undefined]],
    ['9,name:square', ['square', 'square', 'square']],
    ['name:square,name:square/blue', ['square', 'square', 'square/blue']],
    ['name:square/blue,name:square', ['square/blue', 'square', 'square']],
  ])('%s is shown as %j', (text, names) => {
    expect(resolved(text, rows).choices.map(({ name }) => name)).toEqual(names);
  });

  test('that matches nothing is said, once there is a list', () => {
    expect(findings('name:square/green', undefined)).toEqual([]);
    expect(findings('name:square/green', rows)).toEqual([{ type: 'unmatched', label: 'name:square/green' }]);
    for (const known of [undefined, rows])
      expect(resolved('name:square/green,name:none,9', known).missing).toEqual(['square/green', 'none']);
  });

  test('gives its TTL to all of them, and the shortest that is given rules', () => {
    expect(timings('name:square@100s,9@50s,name:square/blue@40s', rows)).toEqual([
      [7, 100_000, 'auto'],
      [8, 100_000, 'auto'],
      [9, 40_000, 'auto'],
    ]);
  });

  test.each(['stopped', 'STOPPED', ' Stopped '])('does not beat one that is %s, and says so', (state) => {
    const stopped = [
      { id: 7, name: 'square', endpoint_state: state },
      { id: 8, name: 'square' },
    ];
    expect(timings('name:square', stopped).map(([id]) => id)).toEqual([8]);
    expect(findings('name:square', stopped)).toEqual([{ type: 'stopped', id: 7, label: 'name:square' }]);
  });

  test.each(['active', 'suspended', 'melting', null])('beats one that is %s', (state) => {
    expect(timings('name:square', [{ id: 7, name: 'square', endpoint_state: state }])).toHaveLength(1);
  });

  test('does not keep an id that is listed from being beaten, though it is stopped', () => {
    const stopped = [{ id: 7, name: 'square', endpoint_state: 'stopped' }];
    expect(timings('name:square,7', stopped).map(([id]) => id)).toEqual([7]);
    expect(findings('name:square,7', stopped)).toEqual([]);
  });
});
