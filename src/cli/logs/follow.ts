/** `pilotlight logs -f`: follows a log by the same code that the daemon follows logs by. */
import { createClient, type ClientOptions } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { LocalGate } from '../../client/gate.ts';
import { RateLimiter } from '../../client/rate-limiter.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { systemClock } from '../../time/clock.ts';
import type { LogEvent } from '../../logs/events.ts';
import { createTailFetcher, type LogClient } from '../../logs/follow/fetch-tail.ts';
import { startLogPipeline } from '../../logs/follow/pipeline.ts';
import { Spool } from '../../logs/spool/spool.ts';
import { printError, type Console } from '../console.ts';
import { legibleLine } from '../text/legible.ts';
import { exitCodeOf } from '../exit-code.ts';
import { READER_LEFT, untilAborted } from '../interrupts.ts';
import { formatRecord } from './format.ts';
import { createNotes } from './notes.ts';
import type { WantedLog } from './print.ts';
import { terminalSink } from './terminal-sink.ts';

/** For the lines that are on their way when Ctrl-C comes, ms. */
const FLUSH_MS = 1_000;

/** Until it is interrupted, until the reader of the results leaves, or until the first poll is refused; the exit code. */
export async function followLog(
  connection: ClientOptions,
  { group, tail, format }: WantedLog,
  console: Console,
): Promise<number> {
  // It may run for days beside daemons that use the same key.
  const gate = new LocalGate(new RateLimiter({ isKeys: true }), 'daemon');
  await using client = createClient({ ...connection, gate });
  const refused = new AbortController();
  const sink = terminalSink({
    console,
    tail,
    format: (record) => formatRecord(record, format, console.hasColours),
  });
  const notes = createNotes(group, console);
  function observe(event: LogEvent): void {
    sink.observe(event);
    if (!refused.signal.aborted) notes.observe(event);
  }
  const spool = await Spool.open({ sinks: [sink.name], clock: systemClock, observe });
  return await console.interruptible(async (signal) => {
    const pipeline = startLogPipeline({
      sources: [{ kind: 'workergroup', id: group }],
      fetchTail: createTailFetcher(withFirstRefusal(client, (error) => refused.abort(error))),
      spool,
      sinks: [sink],
      start: 'all',
      clock: systemClock,
      random: Math.random,
      observe,
    });
    await untilAborted(AbortSignal.any([signal, refused.signal]));
    await pipeline.stop(AbortSignal.timeout(FLUSH_MS));
    notes.end();
    if (refused.signal.aborted) {
      const refusal = refused.signal.reason as ApiError;
      printError(console, `error: ${legibleLine(refusal.message)}`);
      return exitCodeOf(refusal);
    }
    return signal.reason === READER_LEFT ? EXIT.ok : EXIT.interrupted;
  });
}

/**
 * Tells of a first poll that is refused for what the user must fix, such as a mistyped group or a wrong key: waiting does
 * not help. A later refusal may pass, and to end then would lose lines.
 */
function withFirstRefusal(
  { workergroups, endpointGroups }: LogClient,
  onRefusal: (error: ApiError) => void,
): LogClient {
  let isFirst = true;
  return {
    endpointGroups,
    workergroups: {
      async logs(input, options) {
        try {
          return await workergroups.logs(input, options);
        } catch (error) {
          if (isFirst && error instanceof ApiError && error.actor === 'user') onRefusal(error);
          throw error;
        } finally {
          isFirst = false;
        }
      },
    },
  };
}
