import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PUBLISHED_SCHEMAS } from '../../../docs/tables.ts';
import { root } from '../../../support/optional.ts';

test.each(Object.entries(PUBLISHED_SCHEMAS))(
  '%s is the schema of the code: npm run readme',
  (path, schema) => {
    expect(JSON.parse(readFileSync(root + path, 'utf8'))).toEqual(schema());
  },
);
