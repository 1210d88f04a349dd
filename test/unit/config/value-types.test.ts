import { expect, test } from 'vitest';
import { readText } from '../../../src/config/files.ts';
import type { Option } from '../../../src/config/options.ts';
import { listenAddress, redisPrefix, redisUrl, url } from '../../../src/config/addresses.ts';
import {
  amount,
  boolean,
  byteSize,
  count,
  duration,
  durationOrAuto,
  id,
  idList,
  oneOf,
  path,
  type ValueType,
  endpointList,
  groupList,
} from '../../../src/config/value-types.ts';
import { loadValues } from '../../../src/config/values.ts';

const IDS = [7, 8].map((each) => ({ by: 'id', id: each }));

test.each<[type: ValueType<unknown>, text: string, value: unknown]>([
  [groupList, 'endpoint:chat,7,8,all', [{ by: 'name', name: 'chat' }, ...IDS, { by: 'all' }]],
  [endpointList, '7,8,all', [...IDS, { by: 'all' }]],
  [path, '/a', '/a'],
  [path, '', undefined],
  [url, 'http://a//', 'http://a'],
  [url, 'https://a/b/', 'https://a/b'],
  [url, 'ftp://a', undefined],
  [url, 'http://u@a', undefined],
  [url, 'http://a?b', undefined],
  [url, 'http://a#b', undefined],
  [duration, '500ms', 500],
  [duration, '1.5s', 1_500],
  [duration, '2m', 120_000],
  [duration, '1h', 3_600_000],
  [duration, '0s', undefined],
  [duration, '1sx', undefined],
  [duration, '99999999999999999h', undefined],
  [durationOrAuto, 'auto', 'auto'],
  [durationOrAuto, '1s', 1_000],
  [durationOrAuto, 'never', undefined],
  [byteSize, '1', 1],
  [byteSize, '0.5', undefined],
  [byteSize, '1.5KiB', 1_536],
  [byteSize, '64MiB', 67_108_864],
  [byteSize, '500KB', 500_000],
  [byteSize, '2GB', 2e9],
  [byteSize, '1 KB', undefined],
  [count, '1', 1],
  [count, '0', undefined],
  [count, '1e3', undefined],
  [amount, '12.50', 12.5],
  [amount, '0', undefined],
  [amount, '1.', undefined],
  [amount, '9'.repeat(400), undefined],
  [boolean, 'True', true],
  [boolean, '1', true],
  [boolean, 'OFF', false],
  [boolean, 'maybe', undefined],
  [oneOf(['a', 'b']), 'B', 'b'],
  [oneOf(['a', 'b']), 'c', undefined],
  [id, '0', 0],
  [id, '1x', undefined],
  [id, '9007199254740993', undefined],
  [idList, ' 1, 2 ', [1, 2]],
  [idList, '1,,2', undefined],
  [idList, '1,2,1', undefined],
  [oneOf(['a'], { b: 'a' }), 'B', 'a'],
  [oneOf(['a'], { b: 'a' }), 'constructor', undefined],
  [listenAddress, 'localhost:0', { host: 'localhost', port: 0 }],
  [listenAddress, 'a.b-c:65535', { host: 'a.b-c', port: 65_535 }],
  [listenAddress, 'a:65536', undefined],
  [listenAddress, 'a b:1', undefined],
  [listenAddress, ':1', { host: '0.0.0.0', port: 1 }],
  [listenAddress, '1', undefined],
  [redisUrl, 'redis://r:6379/0', 'redis://r:6379/0'],
  [redisUrl, 'rediss://r', 'rediss://r'],
  [redisUrl, 'redis://r/a', undefined],
  [redisUrl, 'redis://%:p@r', undefined],
  [redisUrl, 'http://r', undefined],
  [redisPrefix, 'a:b-c.d/e_', 'a:b-c.d/e_'],
  [redisPrefix, '{a}', undefined],
  [redisPrefix, 'with space', undefined],
  [redisPrefix, 'a'.repeat(64), 'a'.repeat(64)],
  [redisPrefix, 'a'.repeat(65), undefined],
  [endpointList, 'all', [{ by: 'all' }]],
  [endpointList, 'chat, ,', [{ by: 'name', name: 'chat' }]],
  [groupList, 'all', [{ by: 'all' }]],
  [groupList, 'endpoint: chat: v2', [{ by: 'name', name: 'chat: v2' }]],
  [groupList, 'chat', undefined],
  [groupList, 'endpoint:', undefined],
])('a value is read, or refused: %#', (type, text, value) => {
  const parsed = type.parse(text);
  expect(parsed.value).toEqual(value);
  // A refusal says what is allowed.
  expect(parsed.problems.map(({ allowed }) => allowed !== '')).toEqual(value === undefined ? [true] : []);
});

test('a value with hundreds of thousands of problems has all of them, and no call with so many arguments', () => {
  const problems = Array.from({ length: 300_000 }, (_, index) => ({
    at: `[${index}]`,
    got: '{}',
    allowed: 'a group',
  }));
  const option: Option = {
    variable: 'GROUPS',
    type: { name: 'groups', parse: () => ({ value: undefined, problems }) },
    doc: '',
  };
  const loaded = loadValues({ groups: option }, { PILOTLIGHT_GROUPS: 'x' }, readText);
  expect(loaded.problems).toHaveLength(problems.length);
});
