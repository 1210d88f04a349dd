import { expect, test } from 'vitest';
import { RedisError, RedisTrouble } from '../../../../src/daemon/replicas/redis.ts';
import { collectedLog } from '../../../support/collected-log.ts';

function trouble() {
  const { logger, lines } = collectedLog('debug');
  return { lines, subject: new RedisTrouble(logger, 'Redis is away', 'nobody follows logs') };
}

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", /raise its maxmemory/],
  ["READONLY You can't write against a read only replica.", /must be the primary/],
  ['MISCONF Redis is configured to save RDB snapshots', /cannot save its snapshot/],
  ['NOAUTH Authentication required.', /asks for a password/],
  ['WRONGPASS invalid username-password pair', /asks for a password/],
  ["NOPERM this user has no permissions to run the 'eval' command", /check the rights/],
  ['ERR Error running script: @user_script: OOM command not allowed', /raise its maxmemory/],
])('the words for whoever can mend it: %s', (message, words) => {
  const { lines, subject } = trouble();
  subject.failed(new Error(message));
  expect(subject.last).toMatch(words);
  expect(subject.last).toContain(`(it said: ${message})`);
  expect(lines).toMatchObject([{ level: 40, failures: 1 }]);
  expect(lines[0]?.['msg']).toMatch(words);
  expect(lines[0]?.['msg']).toMatch(/: nobody follows logs$/);
});

test.each([
  [new Error('connect ECONNREFUSED'), 'Redis is away: connect ECONNREFUSED'],
  [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'Redis is away: ECONNREFUSED'],
  [new TypeError(''), 'Redis is away: TypeError'],
  ['BOOM and OOMPH', 'Redis is away: BOOM and OOMPH'],
  [new RedisError('redis_silent'), 'Redis is away: no answer from Redis in 2000 ms'],
])('%s is said as it is', (error, last) => {
  const { lines, subject } = trouble();
  subject.failed(error);
  expect(subject.last).toBe(last);
  expect(lines).toMatchObject([{ level: 40, msg: 'Redis is away: nobody follows logs' }]);
});

test.each(['redis_away', 'lease_lost'] as const)('%s is no trouble of its own', (code) => {
  const { lines, subject } = trouble();
  subject.failed(new RedisError(code));
  subject.passed();
  expect([lines, subject.last]).toEqual([[], undefined]);
});

test('it is told when it begins and after twice as many failures each time, and once that it has passed', () => {
  const { lines, subject } = trouble();
  for (let failure = 1; failure <= 5; failure += 1) subject.failed(new Error('away'));
  expect(lines.map(({ level }) => level)).toEqual([40, 40, 20, 40, 20]);
  subject.passed();
  subject.passed();
  expect(lines.slice(5)).toEqual([{ level: 30, failures: 5, msg: 'Redis accepts commands again' }]);
  expect(subject.last).toBeUndefined();
  subject.failed(new Error('away'));
  expect(lines.at(-1)).toMatchObject({ level: 40, failures: 1 });
});
