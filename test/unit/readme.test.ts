import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withTables } from '../docs/tables.ts';

test('the tables of the README are what the code says (npm run readme writes them)', async () => {
  const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(text.match(/<!-- table: \w+ -->/g)).toHaveLength(13);
  expect(text).toBe(await withTables(text));
});
