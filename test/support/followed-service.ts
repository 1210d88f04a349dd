/**
 * One log at a service that does something wrong, over real sockets and in one virtual time: followed by Pilotlight, and
 * by two pollers as people write them. Each has the service to itself, so that its fault comes at the same answers.
 */
import { createClient } from '../../src/client/client.ts';
import { createTailFetcher, startLogPipeline } from '../../src/logs/follow/pipeline.ts';
import { memorySpool } from './memory-spool.ts';
import { AnchorPoller } from './log-peers.ts';
import type { LogServiceOptions } from './log-service.ts';
import { CollectingSink } from './log-sinks.ts';
import { startRawLogServer } from './raw-log-server.ts';
import { ServiceTime } from './service-time.ts';

const GROUP = 7;

/** Milliseconds from one writing to the next, from one question of the pollers to the next, and of rest at the end. */
const [STEP_MS, POLL_MS, REST_MS] = [100, 1_000, 40_000];

/** `options` are made for each follower. `writes`: first, and then each tenth of a second. */
export async function followService(options: () => LogServiceOptions, writes: Iterable<string>) {
  await using all = new AsyncDisposableStack();
  const starting = Array.from({ length: 3 }, async () => all.use(await startRawLogServer(options())));
  const servers = await Promise.all(starting);
  const clients = servers.map(({ url }) =>
    all.use(createClient({ baseUrl: url, serverlessUrl: url, apiKey: 'a-key-of-nobody' })),
  );
  const [ours, first, second] = clients;
  if (ours === undefined || first === undefined || second === undefined)
    throw new Error('a follower has no service');

  const pieces = [...writes];
  let written = 0;
  function write(): void {
    for (const { log } of servers) log.write(pieces[written] ?? '');
    written += 1;
  }
  const time = new ServiceTime((ms) => {
    for (const { log } of servers) log.now += ms;
    write();
    return Promise.resolve();
  });
  const sink = new CollectingSink();
  write();
  const pipeline = startLogPipeline({
    sources: [{ kind: 'workergroup', id: GROUP }],
    fetchTail: time.waitingFor(createTailFetcher(ours)),
    // So large that the sink, which takes all at once, never misses anything.
    spool: memorySpool([sink.name], 2 ** 30),
    sinks: [sink],
    start: 'all',
    clock: time.clock,
    random: () => 0.5,
    observe: () => {},
  });
  all.defer(() => pipeline.stop(AbortSignal.abort()));
  const pollers = [new AnchorPoller(first, GROUP, 1), new AnchorPoller(second, GROUP, 5)] as const;
  await time.idle();
  for (let poll = 0; poll < (pieces.length * STEP_MS + REST_MS) / POLL_MS; poll++) {
    await time.advance(POLL_MS, STEP_MS);
    await Promise.all(pollers.map((poller) => poller.poll()));
  }
  const lines = servers[0]?.log.written.map(({ text }) => text) ?? [];
  return { records: sink.records, lines, printed: pollers.map(({ printed }) => printed) };
}
