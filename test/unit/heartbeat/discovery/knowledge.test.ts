import { describe, expect, test } from 'vitest';
import {
  learnGone,
  learnList,
  learnOne,
  NOTHING_KNOWN,
  resolve,
  Selection,
  type DeploymentKnowledge,
  type Known,
  type Told,
  type Wanted,
} from '../../../../src/heartbeat/discovery/wanted.ts';

function byName(name: string, tag?: string): Wanted {
  return { by: 'name', name, tag, ttlMs: undefined };
}
const SQUARE = new Selection([byName('square')]);
const OLD: Told = { id: 1, name: 'square', tag: 'blue', ttl: 60, endpoint_state: 'active' };
const CIRCLE: Told = { id: 1, name: 'circle' };
const NEW: Told = { id: 2, name: 'square', ttl: 60 };

function afterLists(lists: readonly (readonly Told[])[], everyMs = 30_000): DeploymentKnowledge {
  return lists.reduce((known, rows, index) => learnList(known, rows, SQUARE, index * everyMs), NOTHING_KNOWN);
}

function beaten(knowledge: DeploymentKnowledge): number[] {
  const settings = { deploymentTtl: undefined, heartbeatInterval: 'auto' } as const;
  return resolve([byName('square')], knowledge, settings).choices.map(({ id }) => id);
}

describe('what a list says is taken at once', () => {
  test.each<[string, Partial<Told>, object]>([
    ['a shorter TTL', { ttl: 5 }, { ttl: 5_000 }],
    ['another tag', { tag: 'red' }, { tag: 'red' }],
  ])('%s', (_, change, expected) => {
    expect(afterLists([[OLD], [{ ...OLD, ...change }]]).deployments.get(1)).toMatchObject(expected);
  });

  test('another name of one that is wanted by its id', () => {
    const wanted = new Selection([{ by: 'id', id: 1, ttlMs: undefined }]);
    const known = learnList(learnList(NOTHING_KNOWN, [OLD], wanted, 0), [CIRCLE], wanted, 30_000);
    expect(known.deployments.get(1)).toMatchObject({ name: 'circle', easedSince: undefined });
  });
});

describe('what fewer heartbeats would follow from is doubted', () => {
  test.each<[string, Partial<Told>, Partial<Known>]>([
    ['a longer TTL', { ttl: 500 }, { ttl: 500_000 }],
    ['no TTL any more', { ttl: null }, { ttl: null }],
    ['that it was stopped', { endpoint_state: 'stopped' }, { stopped: true }],
  ])('%s, until answers have said so for a minute', (_, change, expected) => {
    const changed = { ...OLD, ...change };
    const learned = (...lists: Told[]) => afterLists(lists.map((row) => [row])).deployments.get(1);
    expect(learned(OLD, changed)).toMatchObject({ ttl: 60_000, stopped: false });
    expect(learned(OLD, changed, changed)).toMatchObject({ ttl: 60_000, stopped: false });
    expect(learned(OLD, changed, changed, changed)).toMatchObject({ ...expected, easedSince: undefined });
    expect(learned(OLD, changed, changed, OLD, changed)).toMatchObject({ ttl: 60_000, stopped: false });
  });

  test('and not what is known of a deployment first', () => {
    expect(beaten(afterLists([[{ ...OLD, endpoint_state: 'stopped' }]]))).toEqual([]);
    expect(afterLists([[{ id: 1, name: 'square' }], [OLD]]).deployments.get(1)).toMatchObject({
      ttl: 60_000,
    });
  });

  test('while what comes with it and asks for more is taken', () => {
    const first = { ...OLD, endpoint_state: 'stopped' };
    expect(afterLists([[first], [{ ...OLD, ttl: 500 }]]).deployments.get(1)).toMatchObject({
      ttl: 60_000,
      stopped: false,
    });
    expect(afterLists([[OLD], [{ ...first, ttl: 5 }]]).deployments.get(1)).toMatchObject({
      ttl: 5_000,
      stopped: false,
    });
  });
});

describe('another name is doubted', () => {
  test('one that a list calls otherwise goes on, until lists have said so for a minute', () => {
    expect(beaten(afterLists([[OLD], [CIRCLE]]))).toEqual([1]);
    expect(beaten(afterLists([[OLD], [CIRCLE], [CIRCLE]]))).toEqual([1]);
    expect(beaten(afterLists([[OLD], [CIRCLE], [CIRCLE]], 59_999))).toEqual([1]);
    expect(beaten(afterLists([[OLD], [CIRCLE], [CIRCLE]], 60_000))).toEqual([]);
    expect(beaten(afterLists([[OLD], [CIRCLE], [CIRCLE], [CIRCLE]]))).toEqual([]);
    expect(beaten(afterLists([[OLD], [CIRCLE], [CIRCLE], [OLD], [CIRCLE], [CIRCLE]]))).toEqual([1]);
  });

  test('and so is another tag, where the tag is wanted', () => {
    const blue = new Selection([byName('square', 'blue')]);
    const learned = (now: number, before: DeploymentKnowledge) =>
      learnList(before, [{ ...OLD, tag: 'red' }], blue, now);
    const first = learned(30_000, learnList(NOTHING_KNOWN, [OLD], blue, 0));
    expect(first.deployments.get(1)).toMatchObject({ tag: 'blue' });
    expect(learned(90_000, first).deployments.size).toBe(0);
  });

  test('also where it was asked for by itself', () => {
    const first = learnOne(afterLists([[OLD]]), CIRCLE, SQUARE, 30_000);
    expect(beaten(first)).toEqual([1]);
    expect(beaten(learnOne(first, CIRCLE, SQUARE, 90_000))).toEqual([]);
  });

  test('one whose name is not wanted any more at all is given up at once', () => {
    const circle = new Selection([byName('circle')]);
    expect(learnList(afterLists([[OLD]]), [OLD], circle, 30_000).deployments.size).toBe(0);
  });
});

describe('what a list does not say is doubted', () => {
  test.each<[string, Told]>([
    ['absent fields', { id: 1 }],
    ['nulls', { id: 1, name: null, tag: null, endpoint_state: null }],
    ['a TTL that none can be', { id: 1, ttl: -5 }],
  ])('%s change nothing', (_, row) => {
    const [before, after] = [afterLists([[OLD]]), afterLists([[OLD], [row]])];
    expect(after).toEqual(before);
  });

  test('that it was stopped holds until the service says otherwise', () => {
    const stopped = { ...OLD, endpoint_state: 'stopped' };
    expect(beaten(afterLists([[stopped], [{ id: 1, name: 'square' }]]))).toEqual([]);
    expect(beaten(afterLists([[stopped], [OLD]]))).toEqual([1]);
  });
});

describe('one that is gone', () => {
  const replaced = afterLists([[OLD], [NEW], [NEW], [NEW], [NEW]]);

  test('is given up when lists have missed it for a while, the service says so, and the name is another now', () => {
    expect(beaten(replaced)).toEqual([1, 2]);
    expect(beaten(learnGone(replaced, 1, 120_000))).toEqual([2]);
  });

  test('is not given up while nobody else has the name', () => {
    const missing = afterLists([[OLD], [], [], [], []]);
    expect(beaten(learnGone(missing, 1, 120_000))).toEqual([1]);
    const older = { ...NEW, id: 1 };
    expect(beaten(learnGone(afterLists([[older, NEW], [older]]), 2, 30_000))).toEqual([1, 2]);
    expect(beaten(learnGone(afterLists([[older], [NEW], []]), 1, 60_000))).toEqual([1, 2]);
    const two = new Selection([byName('square'), byName('circle')]);
    const other = learnList(learnList(NOTHING_KNOWN, [older], two, 0), [{ ...CIRCLE, id: 2 }], two, 30_000);
    expect(learnGone(other, 1, 30_000)).toBe(other);
  });

  test('is forgotten once another has its name and tag, and comes not back when that one is gone', () => {
    const lists = [[{ ...NEW, id: 1 }], [NEW], [NEW], [], [], []];
    const last = lists.reduce(
      (known, rows, index) => learnGone(learnList(known, rows, SQUARE, index * 30_000), 1, index * 30_000),
      NOTHING_KNOWN,
    );
    expect(beaten(learnGone(last, 2, 150_000))).toEqual([2]);
  });

  test('is back with the first answer that has it', () => {
    const gone = learnGone(replaced, 1, 120_000);
    expect(beaten(learnList(gone, [OLD, NEW], SQUARE, 200_000))).toEqual([1, 2]);
    expect(beaten(learnOne(gone, OLD, SQUARE, 200_000))).toEqual([1, 2]);
  });
});
