/** Over a real socket, with the client as it ships, which takes no answer above 64 MiB. */
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { createTailFetcher } from '../../../src/logs/follow/pipeline.ts';
import { advance, beginGroup, firstPoll } from '../../../src/logs/follower/group.ts';
import { startRawLogServer } from '../../support/raw-log-server.ts';

test('10,000 lines of 8 KB are more than the client takes: half as many are asked for, and come', async () => {
  await using server = await startRawLogServer();
  await using client = createClient({
    baseUrl: server.url,
    serverlessUrl: server.url,
    apiKey: 'a-key-of-nobody',
  });
  const rest = 'x'.repeat(8_192);
  for (let line = 0; line < 10_000; line++) server.log.write(`${line} ${rest}\n`);
  const fetchTail = createTailFetcher(client);
  const signal = new AbortController().signal;
  let state = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all' });
  let { tail } = firstPoll(state);
  const asked: number[] = [];
  for (let records = 0; records === 0 && asked.length < 6;) {
    asked.push(tail);
    const answer = await fetchTail({ source: { kind: 'workergroup', id: 7 }, tail, everyMs: 1_000, signal });
    const step = advance(state, {
      answer,
      tail,
      now: 1_700_000_000_000 + asked.length,
      roundTripMs: 20,
      random: 0.5,
    });
    records = step.records.length;
    ({
      state,
      next: { tail },
    } = step);
  }
  expect(asked).toEqual([100_000, 50_000, 25_000, 12_500, 6_250]);
  // A gap tells of those above them.
  expect(state.progress).toMatchObject({ seq: 1 + 6_250 });
});
