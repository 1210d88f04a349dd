/** `logs -f`: follows a log by the code that the daemon follows logs by. */
import { createClient, type ClientOptions } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { LocalGate } from '../../client/gate.ts';
import { RateLimiter } from '../../client/rate-limiter.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { systemClock } from '../../time/clock.ts';
import { createTailFetcher, type LogClient, startLogPipeline } from '../../logs/follow/pipeline.ts';
import type { LogEvent } from '../../logs/events.ts';
import { Spool } from '../../logs/spool/spool.ts';
import { CommandError, printError, type Console, interruptedExit, untilAborted } from '../console.ts';
import { legibleLine } from '../text.ts';
import {
  nameOf,
  describeGap,
  formatRecord,
  createHistory,
  matches,
  NO_TIMES,
  type WantedLog,
} from './print.ts';
import type { LogRecord } from '../../logs/record.ts';
import { ALL_ACCEPTED, type Sink } from '../../logs/sinks/sink.ts';

/** For the lines that are under way at Ctrl-C. */
const FLUSH_MS = 1_000;

/** Until it is interrupted, the reader leaves, or the first poll is refused; the exit code. */
export async function followLog(connection: ClientOptions, wanted: WantedLog, console: Console) {
  // It may run for days beside daemons with the same key.
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

/** Reports a first poll that the user must fix, such as a mistyped group. A later refusal may pass. */
function withFirstRefusal(client: LogClient, onRefusal: (error: ApiError) => void): LogClient {
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
  return {
    workergroups: { logs: (input, options) => watched(client.workergroups.logs(input, options)) },
    endpointGroups: { logs: (input, options) => watched(client.endpointGroups.logs(input, options)) },
  };
}

interface TerminalSinkOptions {
  readonly console: Pick<Console, 'out' | 'taken'>;
  readonly wanted: WantedLog;
  readonly say: (words: string) => void;
  readonly refuse: (why: string) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Hears the follower's events too: they say how many of the first records were there at the start. */
export function terminalSink(options: TerminalSinkOptions): Sink & { observe(event: LogEvent): void } {
  const { console, wanted, say, refuse, now } = options;
  const isJson = wanted.format.json === true;
  /** Sequence number of the last record that was there at the start. */
  let historyTo: number | undefined;
  let gaps = 0;
  const textOf = (record: LogRecord) => ('line' in record ? record.line : '');
  /** Undefined once it has been shown: it may be long. */
  let history: ReturnType<typeof createHistory<LogRecord>> | undefined = createHistory(wanted, textOf, now());

  function take(record: LogRecord): readonly LogRecord[] {
    if (history === undefined) return [record];
    const ofHistory = record.seq <= (historyTo ?? 0);
    if (ofHistory && 'line' in record) history.add(record.level ?? '', record);
    if (record.seq < (historyTo ?? 0)) return 'gap' in record ? [record] : [];
    const shown = history.isTimeless() ? undefined : history.lines();
    history = undefined;
    if (!shown) {
      refuse(NO_TIMES);
      return [];
    }
    return ofHistory && 'line' in record ? shown : [...shown, record];
  }

  function print(records: readonly LogRecord[]): void {
    let text = '';
    for (const record of records) {
      if ('line' in record ? matches(wanted, record.line) : isJson)
        text += formatRecord(record, wanted.format);
      else if ('gap' in record) {
        // The gap stands in its place, for a reader of both.
        console.out(text);
        text = '';
        say(describeGap(record.gap));
      }
    }
    console.out(text);
  }

  return {
    name: 'terminal',
    observe(event) {
      if (historyTo !== undefined) return;
      if (event.kind === 'gap') gaps += 1;
      if (event.kind === 'lines') historyTo = gaps + event.lines;
    },
    async write({ records }) {
      print(records.flatMap(take));
      await console.taken();
      return ALL_ACCEPTED;
    },
    close: () => Promise.resolve(),
  };
}

/** Lines that come so late are worth a word, ms. */
const LATE_MS = 5_000;

/** Each trouble when it begins and when it is over. */
export function createNotes(say: (words: string) => void) {
  let failing = false;
  let late = false;
  /** Since the last delivery. */
  let dropped = 0;

  function endOverflow(): void {
    if (dropped > 0) say(`${dropped} lines were dropped, for the output was too slow`);
    dropped = 0;
  }

  function answered(roundTripMs: number): void {
    if (failing) say('following again');
    failing = false;
    const isLate = roundTripMs >= LATE_MS;
    if (isLate && !late)
      say(`lines come ${Math.round(roundTripMs / 1_000)} s late: the service is slow, or limits this key`);
    if (late && !isLate) say('lines come in time again');
    late = isLate;
  }

  return {
    observe(event: LogEvent): void {
      switch (event.kind) {
        case 'poll failed':
          if (!failing) say(`${legibleLine(event.reason)}; trying again, nothing is lost yet`);
          failing = true;
          return;
        case 'polled':
          return answered(event.roundTripMs);
        case 'dropped':
          if (dropped === 0) say('lines are dropped: the output is too slow for them');
          dropped += event.records;
          return;
        case 'delivered':
          return endOverflow();
        default:
      }
    },
    end: endOverflow,
  };
}
