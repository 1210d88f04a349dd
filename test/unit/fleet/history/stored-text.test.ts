/** What is stored as text, and what else may be read in its place: of a file that was damaged, or of somebody else. */
import { expect, test } from 'vitest';
import { endpointFrom, livesFrom, startsFrom } from '../../../../src/fleet/history/stored-text.ts';

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
] as const)('of %s what can be read is', (_, read, whole) => {
  const texts = [...damaged(whole).map((one) => JSON.stringify(one)), '', '{', JSON.stringify(whole)];
  const found: readonly object[] = read(texts);
  expect(found.at(-1)).toEqual(whole);
  // Of what is damaged, each has the types of the whole.
  for (const one of found) expectLike(one, whole);
});

test('what is open of an endpoint is read whole or not at all', () => {
  const open = [[60_000, 60_000, 'AQAA']];
  const endpoint = { sinceMs: 1_000, lastMs: 2_000, open };
  expect(endpointFrom('chat', JSON.stringify(endpoint))).toMatchObject({ label: 'chat', lastMs: 2_000 });
  for (const one of damaged(endpoint)) {
    const found = orRefused(() => endpointFrom('chat', JSON.stringify(one)));
    if (found) expectLike({ ...found, open }, endpoint);
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
const WORDS = new Set(['timed']);

function expectLike(found: object, whole: object): void {
  for (const [name, each] of Object.entries(whole)) {
    if (WORDS.has(name)) continue;
    const other: unknown = (found as Record<string, unknown>)[name];
    expect([name, typeof other, Array.isArray(other)]).toEqual([name, typeof each, Array.isArray(each)]);
    if (typeof each === 'object' && each !== null) expectLike(other as object, each as object);
  }
}
