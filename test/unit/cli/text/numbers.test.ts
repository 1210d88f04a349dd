import { expect, test } from 'vitest';
import { money, number, percent, seconds } from '../../../../src/cli/text/legible.ts';

test.each([
  [0, '0'],
  [0.035_44, '0.0354'],
  [1.234, '1.23'],
  [999.4, '999'],
  [1000, '1,000'],
  [-1000, '-1,000'],
  [19_366.6, '19,367'],
  [Infinity, 'never'],
  [-Infinity, '—'],
  [Number.NaN, '—'],
])('the number %d is %s', (value, words) => {
  expect(number(value)).toBe(words);
});

test.each([
  [0, '0 s'],
  [0.0999, '99.9 ms'],
  [0.1, '0.1 s'],
  [119, '119 s'],
  [120, '2 min'],
  [7199, '120 min'],
  [7200, '2 h'],
  [Infinity, 'never'],
])('%d seconds are %s', (value, words) => {
  expect(seconds(value)).toBe(words);
});

test.each([
  [0, '0%'],
  [0.000_099, '< 0.01%'],
  [0.0001, '0.01%'],
  [0.123_45, '12.3%'],
  [1, '100%'],
])('a share of %d is %s', (value, words) => {
  expect(percent(value)).toBe(words);
});

test.each([
  [0, '0.00'],
  [0.0123, '0.0123'],
  [0.099, '0.0990'],
  [0.1, '0.10'],
  [999.994, '999.99'],
  [1000, '1,000'],
])('a price of %d is %s', (value, words) => {
  expect(money(value)).toBe(words);
});
