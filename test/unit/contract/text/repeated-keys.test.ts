import { expect, test } from 'vitest';
import { repeatedKeys } from '../../../../src/contract/text/repeated-keys.ts';

test.each([
  ['{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}', []],
  ['{"a":1,"a" : 1}', ['.a']],
  ['{"a":{"b":1,"c":{},"b":2},"b":1}', ['.a.b']],
  ['{"a":{"b":1},"a":{"b":1}}', ['.a']],
  [String.raw`{"a":1,"\u0061":2}`, ['.a']],
  [String.raw`{"a":"\"a\":1, {\"a\":","b":"a"}`, []],
  ['{"__proto__":1,"__proto__":2}', ['.__proto__']],
  ['[1]', []],
])('in %s', (json, places) => {
  expect(repeatedKeys(json)).toEqual(places);
});
