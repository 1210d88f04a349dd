/** `pilotlight logs`: once, or following with the same machine that the daemon follows logs with. */
import { createClient, type ClientOptions } from '../../client/client.ts';
import { ApiError, CallError } from '../../client/errors.ts';
import { recogniseAnswer } from '../../logs/tail/answer.ts';
import { systemClock } from '../../logs/clock.ts';
import type { LogEvent } from '../../logs/events.ts';
import { createTailFetcher } from '../../logs/follow/fetch-tail.ts';
import { MemorySpool } from '../../logs/spool/memory-spool.ts';
import { startLogPipeline } from '../../logs/follow/pipeline.ts';
import { formatMicros, type LogRecord } from '../../logs/record.ts';
import { readText } from '../../logs/tail/tail-text.ts';
import { interrupted } from '../commands/emulator.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { printError } from '../output.ts';
import { formatRecord, type LogFormat } from './format.ts';
import { terminalSink } from './terminal-sink.ts';

/** For the lines that are on their way when Ctrl-C comes. */
const FLUSH_MS = 1_000;

/** The last lines that the service has; the exit code. */
export async function printLog(
  connection: ClientOptions,
  group: number,
  tail: number,
  format: LogFormat,
): Promise<number> {
  await using client = createClient(connection);
  try {
    const answer = recogniseAnswer(200, await client.workergroups.logs({ id: group, tail }));
    if (answer.kind === 'error') {
      printError(`error: worker group ${group}: ${answer.reason}`);
      return EXIT.refused;
    }
    const texts = answer.kind === 'text' ? [answer.text] : Object.values(answer.levels);
    const lines = texts.flatMap((text) => {
      const { lines: ended, unended } = readText(text);
      return unended === undefined ? ended : ended.concat(unended);
    });
    const now = Date.now() * 1000;
    for (const [index, line] of lines.slice(-tail).entries()) {
      const time = formatMicros(now + index);
      const record: LogRecord = { time, workergroup_id: group, epoch: 1, seq: index + 1, line };
      process.stdout.write(formatRecord(record, format, isColourful()));
    }
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    printError(`error: ${error.message}`);
    return exitCodeOf(error);
  }
}

/** Until Ctrl-C, until whoever reads stdout has gone, or until the first poll is refused; the exit code. */
export async function followLog(
  connection: ClientOptions,
  group: number,
  tail: number,
  format: LogFormat,
): Promise<number> {
  await using client = createClient(connection);
  const ended = new AbortController();
  const sink = terminalSink({
    out: process.stdout,
    tail,
    format: (record) => formatRecord(record, format, isColourful()),
    onReaderGone: () => ended.abort(),
  });
  const notes = createNotes(group);
  const fetchTail = createTailFetcher(client);
  let isFirst = true;
  let refusal: ApiError | undefined;
  const pipeline = startLogPipeline({
    workergroupIds: [group],
    async fetchTail(request) {
      try {
        return await fetchTail(request);
      } catch (error) {
        // A mistyped group or a wrong key: nothing that waiting mends. Later on it may pass, and lines would be lost.
        if (isFirst && error instanceof ApiError && error.actor === 'user') {
          refusal = error;
          ended.abort();
        }
        throw error;
      } finally {
        isFirst = false;
      }
    },
    spool: new MemorySpool({ sinks: [sink.name] }),
    sinks: [sink],
    start: 'all',
    clock: systemClock,
    random: Math.random,
    observe(event) {
      sink.observe(event);
      if (refusal === undefined) notes(event);
    },
  });
  const readerGone = new Promise<void>((resolve) => {
    ended.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([interrupted(), readerGone]);
  await pipeline.stop(AbortSignal.timeout(FLUSH_MS));
  if (refusal !== undefined) {
    printError(`error: ${refusal.message}`);
    return exitCodeOf(refusal);
  }
  return ended.signal.aborted ? EXIT.ok : EXIT.interrupted;
}

/** Says once that the service does not answer, and once that it does again. */
function createNotes(group: number): (event: LogEvent) => void {
  let failing = false;
  return (event) => {
    if (event.kind === 'poll failed' && !failing) {
      printError(`pilotlight: worker group ${group}: ${event.reason}; trying again, nothing is lost yet`);
    }
    if (event.kind === 'polled' && failing) printError(`pilotlight: worker group ${group}: following again`);
    if (event.kind === 'poll failed') failing = true;
    if (event.kind === 'polled') failing = false;
  };
}

function isColourful(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors();
}
