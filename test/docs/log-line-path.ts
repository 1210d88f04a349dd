/**
 * Counts the files that run for one log line, from the service's answer to the spool: V8's call counts of a pipeline that
 * follows one worker group over a socket, between an answer with lines and the moment at which they are stored. What
 * metrics and sinks do with them is not in. Run: node test/docs/log-line-path.ts
 */
import { createClient } from '../../src/client/client.ts';
import { createTailFetcher, startLogPipeline } from '../../src/logs/follow/pipeline.ts';
import { Spool } from '../../src/logs/spool/spool.ts';
import { systemClock } from '../../src/time/clock.ts';
import { startRawLogServer } from '../support/raw-log-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { CallCounts } from './call-counts.ts';

/** By then the unit is learned, and each answer brings lines. */
const COUNTED_ANSWER = 5;

await using server = await startRawLogServer();
const { url: baseUrl } = server;
await using client = createClient({ baseUrl, serverlessUrl: baseUrl, apiKey: 'a-key-of-nobody' });
using folder = temporaryFolder();
server.log.writeLines(Array.from({ length: 100 }, (_, index) => `line ${index}`));
const counts = new CallCounts();
const fetchTail = createTailFetcher(client);
const stored = Promise.withResolvers<void>();
let answers = 0;
const pipeline = startLogPipeline({
  sources: [{ kind: 'workergroup', id: 7 }],
  async fetchTail(request) {
    server.log.writeLines([`line ${server.log.written.length}`]);
    const answer = await fetchTail(request);
    answers += 1;
    if (answers === COUNTED_ANSWER) await counts.start();
    return answer;
  },
  spool: await Spool.open({ directory: folder.path, sinks: [], clock: systemClock, observe() {} }),
  sinks: [],
  start: 'all',
  clock: systemClock,
  random: Math.random,
  observe: ({ kind }) => void (kind === 'lines' && answers >= COUNTED_ANSWER && stored.resolve()),
});
await stored.promise;
await counts.print();
await pipeline.stop(AbortSignal.abort());
