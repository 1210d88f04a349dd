import { describe, expect, test } from 'vitest';
import { DOCUMENTS, textOf } from '../../docs/documents.ts';
import { generatedTables, withTables } from '../../docs/tables.ts';

const tables = await generatedTables();
const MARK = /<!-- table: (\w+) -->/g;

describe('generated tables (npm run readme writes them)', () => {
  test.each(DOCUMENTS)('those of %s are what the code says', (path) => {
    const text = textOf(path);
    expect(text).toBe(withTables(text, tables));
  });

  test('each stands in one document', () => {
    const found = DOCUMENTS.flatMap((path) => [...textOf(path).matchAll(MARK)].map(([, name]) => name));
    expect(found).toEqual([...new Set(found)]);
    expect(found).toHaveLength(20);
  });
});
