import { expect, test } from 'vitest';
import { nearestName } from '../../../../src/contract/text/nearest-name.ts';

test.each([
  ['max_worker', 'max_workers'],
  ['target_utli', 'target_util'],
  ['MAX_WORKERS', 'max_workers'],
  ['something_else', undefined],
  ['', undefined],
])('%s is nearest to %s', (name, expected) => {
  expect(nearestName(name, ['max_workers', 'target_util', 'min_load'])).toBe(expected);
});
