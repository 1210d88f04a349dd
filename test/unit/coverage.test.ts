import { expect, test } from 'vitest';
import { COVERAGE } from '../docs/coverage-rows.ts';
import { placeOf } from '../docs/coverage.ts';

test('every row of the interface document has a test (npm run coverage:interface prints the table)', () => {
  const empty = COVERAGE.filter((row) => placeOf(row) === undefined).map(({ subject }) => subject);
  expect(empty).toEqual([]);
  expect(COVERAGE.length).toBeGreaterThan(100);
});
