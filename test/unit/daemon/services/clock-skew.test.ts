import { expect, test } from 'vitest';
import { ClockSkew } from '../../../../src/daemon/services/client.ts';

const AT = Date.UTC(2026, 0, 1);

test.each([
  [0, 500, 0],
  [10_000, 500, 10],
  [0, 440, 0.1],
])(
  'a service whose clockSkew shows %i ms more, %i ms after its last second, is %d s ahead',
  (ahead, after, skew) => {
    const clockSkew = new ClockSkew();
    expect(clockSkew.seconds).toBeNull();
    clockSkew.observe(new Date(AT + ahead).toUTCString(), AT + after);
    expect(clockSkew.seconds).toBeCloseTo(skew, 6);
  },
);

test('an answer without a time says nothing', () => {
  const clockSkew = new ClockSkew();
  clockSkew.observe(new Date(AT).toUTCString(), AT - 500);
  for (const date of [undefined, '', 'yesterday']) clockSkew.observe(date, AT + 90_000);
  expect(clockSkew.seconds).toBe(1);
});
