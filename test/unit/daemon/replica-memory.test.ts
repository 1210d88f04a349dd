import { expect, test } from 'vitest';
import { ReplicaMemory } from '../../../src/daemon/replicas/replica-memory.ts';
import type { SharedState } from '../../../src/daemon/replicas/shared-store.ts';
import { progressAt } from '../../support/log-records.ts';

function stateAt(version: number): SharedState {
  const progress = new Map(version > 0 ? [[7, progressAt(version)]] : []);
  return { version, records: [], first: 1 + version, acknowledged: new Map(), progress };
}

const EMPTY = stateAt(0);
/** Unix ms. */
const START = 1_700_000_000_000;

function memoryAt(start: number): { memory: ReplicaMemory; pass: (ms: number) => void } {
  let now = start;
  return { memory: new ReplicaMemory(() => now), pass: (ms) => (now += ms) };
}

function asLoaded(state: SharedState) {
  return { state, restore: false, epochAfterLoss: undefined };
}

test('what Redis has counts; an empty one at first sight is the beginning', () => {
  const { memory } = memoryAt(START);
  expect(memory.decide(EMPTY)).toMatchObject(asLoaded(EMPTY));
  memory.held(7, stateAt(7));
  expect(memory.decide(stateAt(7))).toMatchObject(asLoaded(stateAt(7)));
  expect(memory.decide(stateAt(9))).toMatchObject(asLoaded(stateAt(9)));
});

test('a holder begins with a version that none before can have had, by the time or by what is known', () => {
  const { memory } = memoryAt(START);
  expect(memory.decide(stateAt(7)).version).toBe(START * 1_000);
  const ahead = START * 1_000 + 5;
  expect(memory.decide(stateAt(ahead)).version).toBe(ahead + 1);
  memory.held(ahead + 9, stateAt(ahead + 9));
  expect(memory.decide(stateAt(7)).version).toBe(ahead + 10);
});

test.each([0, 5])('the last holder gives a Redis that went back to version %i what it had', (version) => {
  const { memory } = memoryAt(START);
  memory.held(7, stateAt(7));
  memory.saw(7);
  memory.saw(version);
  expect(memory.decide(stateAt(version))).toMatchObject({ state: stateAt(7), restore: true });
});

test.each([0, 5])(
  'of a Redis at version %i a replica that was overtaken waits for the last holder',
  (version) => {
    const { memory, pass } = memoryAt(START);
    memory.held(7, stateAt(7));
    memory.saw(8);
    memory.saw(version);
    expect(() => memory.decide(stateAt(version))).toThrow();
    pass(29_999);
    expect(() => memory.decide(stateAt(version))).toThrow();
    pass(1);
    // Then it begins a new epoch, also for the groups that Redis knows of.
    const { state, epochAfterLoss } = memory.decide(stateAt(version));
    expect(epochAfterLoss).toBe(1_700_000_030);
    const progress = { ...progressAt(version), epoch: 1_700_000_030 };
    expect([...state.progress]).toEqual(version > 0 ? [[7, progress]] : []);
  },
);

test('a replica that saw another hold the lease waits for it, though it saw no commit; then it begins', () => {
  const { memory, pass } = memoryAt(START);
  memory.saw(0);
  expect(() => memory.decide(EMPTY)).toThrow();
  pass(30_000);
  expect(memory.decide(EMPTY)).toMatchObject(asLoaded(EMPTY));
});

test('a replica that knew nothing yet when Redis went away waits too, and numbers from a new epoch', () => {
  const { memory, pass } = memoryAt(START);
  memory.lostSight();
  expect(() => memory.decide(EMPTY)).toThrow();
  pass(30_000);
  expect(memory.decide(EMPTY)).toMatchObject({ state: EMPTY, restore: false, epochAfterLoss: 1_700_000_030 });
});

test('after Redis was away its last holder goes first, until another has written more than was known', () => {
  const { memory, pass } = memoryAt(START);
  memory.saw(5);
  memory.lostSight();
  expect(() => memory.decide(stateAt(5))).toThrow();
  pass(30_000);
  expect(memory.decide(stateAt(5))).toMatchObject(asLoaded(stateAt(5)));
  memory.saw(6);
  expect(memory.decide(stateAt(6))).toMatchObject(asLoaded(stateAt(6)));
});
