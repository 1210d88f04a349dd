import { expect, test } from 'vitest';
import { redactedReply } from '../../../../src/daemon/http/listener.ts';
import { Redaction } from '../../../../src/contract/text/redaction.ts';

const redaction = new Redaction(() => ['a"secret-key']);

test.each([
  ['application/json', '{"words":"a\\"secret-key"}', '{"words":"[redacted]"}'],
  ['text/plain', 'got a"secret-key', 'got [redacted]'],
  ['text/plain; version=0.0.4', 'x{why="a\\"secret-key"} 1\n', 'x{why="[redacted]"} 1\n'],
  ['text/html', 'a"secret-key', 'a"secret-key'],
  ['text/javascript', 'a"secret-key', 'a"secret-key'],
  ['image/svg+xml', 'a"secret-key', 'a"secret-key'],
])('of %s leaves what has no secret', (type, body, redacted) => {
  expect(redactedReply({ status: 200, type, body, headers: { vary: 'accept' } }, redaction)).toEqual({
    status: 200,
    type,
    body: redacted,
    headers: { vary: 'accept' },
  });
});

test('each text of several leaves without secrets', () => {
  const type = 'text/plain; version=0.0.4';
  const body = ['x 1\n', 'y{why="a\\"secret-key"} 1\n'];
  expect(redactedReply({ status: 200, type, body }, redaction).body).toEqual([
    'x 1\n',
    'y{why="[redacted]"} 1\n',
  ]);
});

test('what has none leaves as it is', () => {
  const reply = { status: 200, type: 'text/plain', body: 'words' };
  expect(redactedReply(reply, redaction)).toEqual(reply);
});
