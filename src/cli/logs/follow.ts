/** `pilotlight logs -f`: follows a log by the same code that the daemon follows logs by. */
import { createClient, type ClientOptions } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { LocalGate } from '../../client/gate.ts';
import { RateLimiter } from '../../client/rate-limiter.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { systemClock } from '../../time/clock.ts';
import { createTailFetcher, type LogClient } from '../../logs/follow/fetch-tail.ts';
import type { LogEvent } from '../../logs/events.ts';
import { startLogPipeline } from '../../logs/follow/pipeline.ts';
import { Spool } from '../../logs/spool/spool.ts';
import { CommandError } from '../command-error.ts';
import { printError, type Console } from '../console.ts';
import { legibleLine } from '../text/legible.ts';
import { interruptedExit, untilAborted } from '../interrupts.ts';
import { createNotes } from './notes.ts';
import { terminalSink } from './terminal-sink.ts';
import { nameOf, type WantedLog } from './wanted.ts';

/** For the lines that are on their way when Ctrl-C comes, ms. */
const FLUSH_MS = 1_000;

/** Until it is interrupted, until the reader of the results leaves, or until the first poll is refused; the exit code. */
export async function followLog(
  connection: ClientOptions,
  wanted: WantedLog,
  console: Console,
): Promise<number> {
  // It may run for days beside daemons that use the same key.
  const gate = new LocalGate(new RateLimiter({ isKeys: true }), 'daemon');
  await using client = createClient({ ...connection, gate });
  const refused = new AbortController();
  const say = (words: string): void => printError(console, `pilotlight: ${nameOf(wanted.source)}: ${words}`);
  const sink = terminalSink({ console, wanted, say, refuse: (why) => refused.abort(why), now: Date.now });
  const notes = createNotes(say);
  function observe(event: LogEvent): void {
    sink.observe(event);
    if (!refused.signal.aborted) notes.observe(event);
  }
  const spool = await Spool.open({ sinks: [sink.name], clock: systemClock, observe });
  return await console.interruptible(async (signal) => {
    const pipeline = startLogPipeline({
      sources: [wanted.source],
      fetchTail: createTailFetcher(withFirstRefusal(client, (error) => refused.abort(error))),
      spool,
      sinks: [sink],
      start: 'all',
      levels: wanted.levels,
      clock: systemClock,
      random: Math.random,
      observe,
    });
    await untilAborted(AbortSignal.any([signal, refused.signal]));
    await pipeline.stop(AbortSignal.timeout(FLUSH_MS));
    notes.end();
    if (refused.signal.aborted) {
      const why = refused.signal.reason as ApiError | string;
      throw typeof why === 'string' ? new CommandError(legibleLine(why), EXIT.failed) : why;
    }
    return interruptedExit(signal.reason);
  });
}

type Logs<Resource extends keyof LogClient> = LogClient[Resource]['logs'];

/**
 * Tells of a first poll that is refused for what the user must fix, such as a mistyped group or a wrong key: waiting does
 * not help. A later refusal may pass, and to end then would lose lines.
 */
function withFirstRefusal(
  { workergroups, endpointGroups }: LogClient,
  onRefusal: (error: ApiError) => void,
): LogClient {
  let isFirst = true;
  async function watched<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (isFirst && error instanceof ApiError && error.actor === 'user') onRefusal(error);
      throw error;
    } finally {
      isFirst = false;
    }
  }
  const ofGroup: Logs<'workergroups'> = (input, options) => watched(workergroups.logs(input, options));
  const ofEndpoint: Logs<'endpointGroups'> = (input, options) => watched(endpointGroups.logs(input, options));
  return { workergroups: { logs: ofGroup }, endpointGroups: { logs: ofEndpoint } };
}
