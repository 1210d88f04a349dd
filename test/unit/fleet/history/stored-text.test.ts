/** What is stored as text, and what else may be read in its place: of a file that was damaged, or of somebody else. */
import { expect, test } from 'vitest';
import { isRecord } from '../../../../src/contract/is-record.ts';
import { storyOf } from '../../../../src/scaling/autotune/story.ts';
import {
  changesFrom,
  endpointFrom,
  livesFrom,
  startsFrom,
  steeringFrom,
} from '../../../../src/fleet/history/stored-text.ts';

const LIFE = {
  id: 1,
  endpoint: 'chat',
  firstSeenMs: 1_000,
  changes: [['idle', 1_000]],
  start: { from: 'cold', sinceMs: 1_000, timed: true },
  perf: 12.5,
  missed: 0,
};
const START = { endpoint: 'chat', atMs: 1_000, from: 'new', seconds: 40 };
const ESTIMATE = { mean: 1, low: 1, high: 1 };
const CAME = {
  minutes: 60,
  excessMinutes: 1,
  excessMinutesBefore: 2,
  errorMinutes: 0,
  errorMinutesBefore: 0,
  hours: 6,
  costPerHour: 2,
  costPerHourBefore: 3,
};
const CHANGE = {
  id: 1,
  atMs: 1_000,
  why: 'cheaper',
  from: { cold_workers: 3 },
  to: { cold_workers: 2 },
  limits: {},
  expected: {
    costBefore: ESTIMATE,
    costAfter: ESTIMATE,
    p99Before: ESTIMATE,
    p99After: ESTIMATE,
    limitSeconds: 5,
    backtestError: 0.02,
  },
  phase: 'watching',
  setMs: 1_100,
  came: CAME,
  refused: { sinceMs: 1_200, words: 'HTTP 403' },
};
const STATE = { baseline: { cold_workers: 2 }, pause: { untilMs: 5_000, for: 'change' }, change: CHANGE };

function withOther(value: object, name: string, other: unknown): unknown {
  return Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
}

/** It with each of its fields, at any depth, as something else. */
function damaged(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return value === 'x' ? [0] : ['x', null];
  const entries = Object.entries(value);
  const inner = entries.flatMap(([name, each]) =>
    damaged(each).map((other) => withOther(value, name, other)),
  );
  return ['x', null, [], ...inner];
}

test.each([
  ['workers', livesFrom, LIFE],
  ['starts', startsFrom, START],
  ['changes', changesFrom, CHANGE],
] as const)('of %s what can be read is', (_, read, whole) => {
  const texts = [...damaged(whole).map((one) => JSON.stringify(one)), '', '{', JSON.stringify(whole)];
  const found: readonly object[] = read(texts);
  expect(found.at(-1)).toEqual(whole);
  // Of what is damaged, each has the types of the whole.
  for (const one of found) expectLike(one, whole);
});

test('what steers, and what is open of an endpoint, is read whole or not at all', () => {
  expect(steeringFrom('chat', JSON.stringify(STATE))).toEqual({ label: 'chat', state: STATE });
  expect(steeringFrom('chat', '{}').state).toEqual({});
  for (const one of damaged(STATE)) {
    const found = orRefused(() => steeringFrom('chat', JSON.stringify(one)));
    if (found) expectLike(found.state, STATE);
  }
  const open = [[60_000, 60_000, 'AQAA']];
  const endpoint = { sinceMs: 1_000, lastMs: 2_000, open };
  const inForce = { parameters: { target_util: 0.9 }, sinceMs: 1_500 };
  const inForceOf = (one: unknown) =>
    endpointFrom('chat', JSON.stringify({ ...endpoint, inForce: one })).inForce;
  expect(inForceOf(inForce)).toEqual(inForce);
  for (const one of damaged(inForce)) {
    const found = inForceOf(one);
    if (found) expectLike(found, inForce);
  }
  expect(endpointFrom('chat', JSON.stringify(endpoint))).toMatchObject({ label: 'chat', lastMs: 2_000 });
  for (const one of damaged(endpoint)) {
    const found = orRefused(() => endpointFrom('chat', JSON.stringify(one)));
    if (found) expectLike({ ...found, open }, endpoint);
  }
});

test.each<[string, object]>([
  ['a moment that no date has', { ...CHANGE, atMs: 1e300 }],
  ['a refusal at such a moment', { ...CHANGE, refused: { sinceMs: -1e300, words: 'HTTP 403' } }],
])('no change has %s', (_, one) => {
  expect(changesFrom([JSON.stringify(one)])).toEqual([]);
});

test('a change keeps its duty, whatever of its story cannot be read', () => {
  const duty = { id: 1, from: CHANGE.from, to: CHANGE.to, phase: 'watching', setMs: 1_100 };
  for (const [name, others] of [
    ['came', damaged(CAME)],
    ['expected', damaged(CHANGE.expected).filter((one) => isRecord(one))],
    ['outcome', ['superseded', null]],
    ['because', [7, null]],
    ['endpointId', ['x', null]],
  ] as const)
    for (const other of others) {
      const [change] = changesFrom([JSON.stringify({ ...CHANGE, [name]: other })]);
      expect(change).toMatchObject(duty);
      if (change) expect(Object.values(storyOf(change)).join(' ')).not.toMatch(/NaN|undefined|null/);
    }
});

test('a number of a row that is none', () => {
  const row = Buffer.from([...Array.from({ length: 200 }, () => 128), 1, 0, 0]).toString('base64');
  const text = JSON.stringify({ sinceMs: 1_000, lastMs: 2_000, open: [[60_000, 60_000, row]] });
  expect(() => endpointFrom('chat', text)).toThrow(SyntaxError);
});

function orRefused<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
}

/** Words may be others, and what says how something is shown: what is counted with has its type. */
const WORDS = new Set(['for', 'timed', 'came']);

function expectLike(found: object, whole: object): void {
  for (const [name, each] of Object.entries(whole)) {
    if (WORDS.has(name)) continue;
    const other: unknown = (found as Record<string, unknown>)[name];
    expect([name, typeof other, Array.isArray(other)]).toEqual([name, typeof each, Array.isArray(each)]);
    if (typeof each === 'object' && each !== null) expectLike(other as object, each as object);
  }
}
