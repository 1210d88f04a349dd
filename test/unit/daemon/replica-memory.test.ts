import { expect, test } from 'vitest';
import { ReplicaMemory } from '../../../src/daemon/replicas/replica-memory.ts';
import type { SharedState } from '../../../src/daemon/replicas/shared-store.ts';

function stateAt(version: number): SharedState {
  return { version, records: [], first: 1 + version, acknowledged: new Map(), progress: new Map() };
}

const EMPTY = stateAt(0);

function memoryAt(start: number): { memory: ReplicaMemory; pass: (ms: number) => void } {
  let now = start;
  return { memory: new ReplicaMemory(() => now), pass: (ms) => (now += ms) };
}

test('what Redis has counts; an empty one at first sight is the beginning', () => {
  const { memory } = memoryAt(0);
  expect(memory.decide(EMPTY)).toEqual({ state: EMPTY, restore: false, epochAfterLoss: undefined });
  memory.held(7, stateAt(7));
  expect(memory.decide(stateAt(9))).toMatchObject({ state: { version: 9 }, restore: false });
});

test('the last holder gives an empty Redis back what it had', () => {
  const { memory } = memoryAt(0);
  memory.held(7, stateAt(7));
  memory.saw(7);
  memory.saw(0);
  expect(memory.decide(EMPTY)).toEqual({ state: stateAt(7), restore: true, epochAfterLoss: undefined });
});

test('a replica that was overtaken waits for the last holder, then begins a new epoch', () => {
  const { memory, pass } = memoryAt(1_700_000_000_000);
  memory.held(7, stateAt(7));
  memory.saw(8);
  expect(() => memory.decide(EMPTY)).toThrow();
  pass(4_999);
  expect(() => memory.decide(EMPTY)).toThrow();
  pass(1);
  expect(memory.decide(EMPTY)).toEqual({ state: EMPTY, restore: false, epochAfterLoss: 1_700_000_005 });
});

test('a replica that saw another hold the lease waits for it, though it saw no commit; then it begins', () => {
  const { memory, pass } = memoryAt(0);
  memory.saw(0);
  expect(() => memory.decide(EMPTY)).toThrow();
  pass(5_000);
  expect(memory.decide(EMPTY)).toEqual({ state: EMPTY, restore: false, epochAfterLoss: undefined });
});

test('a replica that knew nothing yet when Redis went away waits too, and numbers from a new epoch', () => {
  const { memory, pass } = memoryAt(1_700_000_000_000);
  memory.lostSight();
  expect(() => memory.decide(EMPTY)).toThrow();
  pass(5_000);
  expect(memory.decide(EMPTY)).toEqual({ state: EMPTY, restore: false, epochAfterLoss: 1_700_000_005 });
});
