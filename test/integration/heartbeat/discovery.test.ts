/** The list of deployments as the real client reads it, over a socket. */
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { ask, type Reply } from '../../../src/heartbeat/discovery/watch.ts';
import { serve } from '../../support/local-server.ts';

async function replyTo(rows: number): Promise<Reply> {
  const env = 'x'.repeat(2_000);
  const deployments = Array.from({ length: rows }, (_, id) => ({ id, name: `n${id}`, ttl: 20, env }));
  const text = JSON.stringify({ success: true, deployments });
  await using server = await serve((_, response) => response.end(text));
  await using client = createClient({ baseUrl: server.url, apiKey: 'key' });
  return await ask('list', client, new AbortController().signal);
}

test('a list of 5,000 deployments with an environment of 2 kB each is read', async () => {
  const reply = await replyTo(5_000);
  expect(reply).toMatchObject({ kind: 'answered' });
  expect(reply.kind === 'answered' && reply.rows.length).toBe(5_000);
});

test('a list that is too large to read between two heartbeats is none, and the reason says what to do', async () => {
  expect(await replyTo(9_000)).toEqual({
    kind: 'unanswered',
    reason: 'the list is larger than 16 MiB; give the deployment by its id',
  });
});
