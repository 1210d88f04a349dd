import { describe, expect, test } from 'vitest';
import { recogniseAnswer } from '../../../src/logs/answer.ts';

describe('log text', () => {
  test.each([
    [{ logs: 'a\n' }, { kind: 'text', text: 'a\n' }],
    [
      { logs: '', success: true },
      { kind: 'text', text: '' },
    ],
    [
      { info0: 'a\n', info1: '', trace: 't\n', debug: 'd\n', success: true },
      { kind: 'levels', levels: { info0: 'a\n', info1: '', trace: 't\n', debug: 'd\n' } },
    ],
    [{ logs: { info0: 'a\n' } }, { kind: 'levels', levels: { info0: 'a\n' } }],
  ])('%j', (body, expected) => {
    expect(recogniseAnswer(200, body)).toEqual(expected);
  });
});

describe('no log text', () => {
  test.each([
    [200, { error_msg: 'no such worker group' }, 'error: no such worker group'],
    [200, { error_msg: 'no', logs: 'looks like a log\n' }, 'error: no'],
    [200, { success: false, msg: 'Invalid user key' }, 'error: Invalid user key'],
    [200, { msg: 'Invalid user key' }, 'no logs: Invalid user key'],
    [200, '<html>Bad gateway</html>', 'not a log: <html>Bad gateway</html>'],
    [200, null, 'not a log'],
    [200, { logs: null }, 'no logs'],
    [200, { detail: 'API requests too frequent' }, 'no logs: API requests too frequent'],
    [200, '  down\n', 'not a log: down'],
    [503, { logs: 'stale\n' }, 'status 503'],
    [
      429,
      'API requests too frequent: endpoint threshold=3.0',
      'status 429: API requests too frequent: endpoint threshold=3.0',
    ],
  ])('%i %j', (status, body, reason) => {
    expect(recogniseAnswer(status, body)).toEqual({ kind: 'error', reason });
  });
});
