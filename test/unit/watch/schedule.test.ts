import { expect, test } from 'vitest';
import { isSchedule } from '../../../src/watch/job.ts';
import { withoutHang } from '../../support/bad-input/cases.ts';

test('a schedule is a cron expression of at most 100 characters that comes round', () => {
  expect(['0 0 1 1 *', '* * * * * *'].map((text) => isSchedule(text))).toEqual([true, true]);
  expect(['', 'soon', '61 * * * * *'].map((text) => isSchedule(text))).toEqual([false, false, false]);
  const longest = `${'0,'.repeat(45)}10 * * * *`;
  expect(longest).toHaveLength(100);
  expect([longest, longest.replace('10', '*/10')].map((text) => isSchedule(text))).toEqual([true, false]);
});

test.each([
  '*/10,3 0-23 1,31 * *',
  '0,30 8-18 * jan,Jul mon-FRI',
  '0 22-2 ? * sunday',
  '0 0 LW * *',
  '0 0 L-3,15W * *',
  '0 0 * * 5L,mon#2',
  '0 0 * * wednesdayL',
  '0 0 29 2 *',
  '@daily',
])('the schedule %s', (text) => {
  expect(isSchedule(text)).toBe(true);
});

// The first ones were seen to take three to ten seconds and a gigabyte to be refused, or to be searched for the next time.
test.each([
  '* * * * 1-99999999',
  '* * * * *111111111111111',
  '* * * 1-decdecdecdec *',
  '* * * * 1-satsatsatsatsatsatsat',
  `${Array(160).fill('*').join()} ${Array(60).fill('0-58').join()} ${Array(160).fill('*').join()} * * *`,
  '0 0 30 2 *',
  '0 0 30W 2 *',
  '0 0 L-30 2 *',
  '0 0 8-14 * 1#1',
])('no schedule, or one that never comes round: %s', async (text) => {
  expect(await withoutHang(() => isSchedule(text))).toBe(false);
});
