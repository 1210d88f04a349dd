import { expect, test } from 'vitest';
import { operationOf } from '../../../../src/contract/operations.ts';
import { checkSeed } from '../../../../src/emulator/seed/file.ts';

const window = { id: 1, machine_id: 11, start_time: 1_790_000_000, maintenance_category: 'power' };

test('the emulator has windows of whole hours, and one of two and a half in an answer is read all the same', () => {
  const seedOf = (duration_hours: number) => {
    const { id, start_time, maintenance_category } = { ...window, maintenance_category: 'power' as const };
    return {
      machines: [{ id: 11, maintenances: [{ id, start_time, duration_hours, maintenance_category }] }],
    };
  };
  expect(() => checkSeed(seedOf(2))).not.toThrow();
  expect(() => checkSeed(seedOf(2.5))).toThrow('machines.0.maintenances.0.duration_hours');
  const answer = [{ ...window, duration_hours: 2.5 }];
  expect(operationOf('machines.maintenances').response.parse(answer)).toEqual(answer);
});
