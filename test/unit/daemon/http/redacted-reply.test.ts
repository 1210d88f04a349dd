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
