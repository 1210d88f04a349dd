import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { statusJsonSchema } from '../../../../src/daemon/status/schema.ts';
import { root } from '../../../support/optional.ts';

test('the published schema in the tree is the one that is served: npm run readme', () => {
  const published = readFileSync(`${root}deploy/status.schema.json`, 'utf8');
  expect(JSON.parse(published)).toEqual(statusJsonSchema());
});
