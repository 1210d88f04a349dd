import { expect, test } from 'vitest';
import { attemptsAtOnce } from '../../../../src/heartbeat/process/system.ts';

const limits = (
  openFiles: string,
): string => `Limit                     Soft Limit           Hard Limit           Units
Max processes             77                   77                   processes
Max open files            ${openFiles.padEnd(20)} 999999               files
`;

test.each([
  ['64', 32],
  ['192', 32],
  ['195', 33],
  ['384', 128],
  ['1151', 511],
  ['1152', 512],
  ['1048576', 512],
  ['unlimited', 512],
])('with %s open files %i attempts may be under way', (openFiles, attempts) => {
  expect(attemptsAtOnce(() => limits(openFiles))).toBe(attempts);
});

test('where the system does not tell, as many as there may ever be', () => {
  expect(attemptsAtOnce(() => 'Max processes 77 77 processes\n')).toBe(512);
  expect(attemptsAtOnce(() => '')).toBe(512);
});

test('of this process it is read', () => {
  if (process.platform === 'linux') expect(attemptsAtOnce()).toBeGreaterThanOrEqual(32);
});
