import { expect, test } from 'vitest';
import { operationOf } from '../../../src/contract/operations.ts';
import { countCharacters, textUpTo } from '../../../src/contract/schemas.ts';
import { checkSeed } from '../../../src/emulator/seed/seed.ts';

test('a character is a code point, whatever it takes in UTF-16', () => {
  expect(['', 'abc', 'äöü', '🔥🔥', '\uD83D'].map((text) => countCharacters(text))).toEqual([0, 3, 3, 2, 1]);
  expect(textUpTo(10).safeParse('🔥'.repeat(10)).success).toBe(true);
  const { error } = textUpTo(10).safeParse('🔥'.repeat(11));
  expect(error?.issues).toMatchObject([{ code: 'too_big', maximum: 10 }]);
});

test('the emulator has windows of whole hours; an answer may have one of two and a half', () => {
  const window = { id: 1, start_time: 1_790_000_000, maintenance_category: 'power' as const };
  const seedOf = (duration_hours: number) => ({
    machines: [{ id: 11, maintenances: [{ ...window, duration_hours }] }],
  });
  expect(() => checkSeed(seedOf(2))).not.toThrow();
  expect(() => checkSeed(seedOf(2.5))).toThrow('machines.0.maintenances.0.duration_hours');
  const answer = [{ ...window, machine_id: 11, duration_hours: 2.5 }];
  expect(operationOf('machines.maintenances').response.parse(answer)).toEqual(answer);
});
