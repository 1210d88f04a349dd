import { expect, test } from 'vitest';
import { labelOf, type WantedEndpoint } from '../../../../src/fleet/discovery/wanted.ts';

test.each<[WantedEndpoint, string]>([
  [{ by: 'all' }, 'all'],
  [{ by: 'id', id: 31 }, '31'],
  [{ by: 'name', name: 'chat' }, 'chat'],
])('%j is written %s', (wanted, text) => {
  expect(labelOf(wanted)).toBe(text);
});
