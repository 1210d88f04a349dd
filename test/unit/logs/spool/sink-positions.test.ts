import { describe, expect, test } from 'vitest';
import { SinkPositions } from '../../../../src/logs/spool/sink-positions.ts';

const batch = (through: number, count: number) => ({ through, count });

/** One that has acknowledged 3 of 10 and has 4 to 6 on their way; another that has taken nothing. */
function standing(): SinkPositions {
  const positions = new SinkPositions();
  positions.open('quick', 3, { lag: 7, dropped: 1 });
  positions.open('slow', 0, { lag: 10, dropped: 0 });
  positions.take('quick', batch(6, 3));
  return positions;
}

test('a sink stands where it was opened until it takes something', () => {
  const positions = new SinkPositions();
  positions.open('sink', 5, { lag: 2, dropped: 3 });
  expect(positions.of('sink')).toEqual({
    sink: 'sink',
    acknowledged: 5,
    taken: 5,
    underway: 0,
    lag: 2,
    dropped: 3,
  });
  expect(() => positions.of('other')).toThrow('the spool was not opened for a sink named other');
});

test('what comes waits for all of them', () => {
  const positions = standing();
  positions.append(4);
  expect(positions.all.map(({ sink, lag }) => [sink, lag])).toEqual([
    ['quick', 11],
    ['slow', 14],
  ]);
});

test('what was taken is on its way, and then acknowledged', () => {
  const positions = standing();
  expect([3, 4, 6, 7].map((position) => positions.isUnderway(position))).toEqual([false, true, true, false]);
  expect(positions.acknowledgedByAll).toBe(0);
  positions.acknowledge('quick');
  expect(positions.of('quick')).toMatchObject({ acknowledged: 6, taken: 6, underway: 0, lag: 4 });
  expect([4, 6].map((position) => positions.isUnderway(position))).toEqual([false, false]);
  positions.take('slow', batch(8, 8));
  positions.acknowledge('slow');
  expect([positions.acknowledgedByAll, positions.of('slow').lag]).toEqual([6, 2]);
});

describe('when records go', () => {
  test('whoever has taken one does not miss it', () => {
    expect(standing().missing([1, 5, 6, 7, 8])).toEqual([
      { sink: 'quick', records: 2, reason: 'overflow' },
      { sink: 'slow', records: 5, reason: 'overflow' },
    ]);
    expect(standing().missing([1, 6])).toEqual([{ sink: 'slow', records: 2, reason: 'overflow' }]);
    expect(standing().missing([])).toEqual([]);
  });

  test('all of them, what is on its way arrives all the same', () => {
    expect(standing().missingAll()).toEqual([
      { sink: 'quick', records: 4, reason: 'corruption' },
      { sink: 'slow', records: 10, reason: 'corruption' },
    ]);
  });

  test('they wait no more, and count as dropped', () => {
    const positions = standing();
    positions.drop(positions.missingAll());
    expect(positions.of('quick')).toMatchObject({ lag: 3, dropped: 5 });
    expect(positions.of('slow')).toMatchObject({ lag: 0, dropped: 10 });
  });
});

test('behind another spool each goes on from there where it has all that was here', () => {
  const here = new SinkPositions();
  here.open('all', 8, { lag: 0, dropped: 1 });
  here.open('some', 5, { lag: 3, dropped: 2 });
  const later = new SinkPositions();
  later.open('all', 2, { lag: 5, dropped: 10 });
  later.open('some', 0, { lag: 7, dropped: 20 });
  later.take('all', batch(4, 2));
  const both = here.followedBy(later, 8, 7);
  expect(both.of('all')).toEqual({
    sink: 'all',
    acknowledged: 9,
    taken: 11,
    underway: 2,
    lag: 5,
    dropped: 11,
  });
  expect(both.of('some')).toEqual({
    sink: 'some',
    acknowledged: 5,
    taken: 5,
    underway: 0,
    lag: 10,
    dropped: 22,
  });
  // Positions before the first of the later ones are those of the last here.
  const first = new SinkPositions();
  first.open('all', 0, { lag: 5, dropped: 0 });
  first.open('some', 0, { lag: 5, dropped: 0 });
  expect(here.followedBy(first, 8, 7).of('all')).toMatchObject({ acknowledged: 8, taken: 8 });
});
