/** Over a real socket, with the client as it ships, which takes no answer above 64 MiB. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { createTailFetcher } from '../../../src/logs/follow/fetch-tail.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { startLogPipeline } from '../../../src/logs/follow/pipeline.ts';
import { memorySpool } from '../../support/memory-spool.ts';
import { advance, beginGroup, firstPoll } from '../../../src/logs/follower/group.ts';
import { CollectingSink } from '../../support/log-sinks.ts';
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

test('of many groups with whole logs, eight are read at once, and all are in the end', async () => {
  const [groups, lines] = [24, 9_999];
  const logs = Array.from({ length: lines }, (_, index) => `${index} ${'x'.repeat(90)}\n`).join('');
  const body = JSON.stringify({ logs });
  let [open, most, whole] = [0, 0, 0];
  const eight = Promise.withResolvers<void>();
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { tail } = (await json(request)) as { tail: number };
    if (tail <= lines) {
      response.end('{"logs":""}');
      return;
    }
    open += 1;
    most = Math.max(most, open);
    // None is answered before so many are open, however slow the machine is; a ninth has a moment to come.
    if (open >= 8) eight.resolve();
    await eight.promise;
    await delay(50);
    open -= 1;
    whole += 1;
    response.end(body);
  }
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using client = createClient({ baseUrl: url, serverlessUrl: url, apiKey: 'a-key-of-nobody' });
  const sink = new CollectingSink();
  const all = Promise.withResolvers<void>();
  const pipeline = startLogPipeline({
    sources: Array.from({ length: groups }, (_, index) => ({ kind: 'workergroup' as const, id: index + 1 })),
    fetchTail: createTailFetcher(client),
    spool: memorySpool([sink.name], 2 ** 30),
    sinks: [sink],
    start: 'all',
    clock: systemClock,
    random: Math.random,
    observe(event) {
      if (event.kind === 'delivered' && sink.records.length === groups * lines) all.resolve();
    },
  });
  await all.promise;
  await pipeline.stop(AbortSignal.abort());
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect([most, whole]).toEqual([8, groups]);
});
