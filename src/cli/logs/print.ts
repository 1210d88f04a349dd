/** `pilotlight logs`: the last lines that the service has. */
import { createClient, type Client, type ClientOptions } from '../../client/client.ts';
import { CallError } from '../../client/errors.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { formatMicros } from '../../logs/record.ts';
import { recogniseAnswer, type Refusal } from '../../logs/answer.ts';
import { readText } from '../../logs/text.ts';
import { printError, type Console } from '../console.ts';
import { exitCodeOf } from '../exit-code.ts';
import { legibleLine } from '../text/legible.ts';
import { formatRecord, type LogFormat } from './format.ts';

export interface WantedLog {
  /** Id of the worker group. */
  readonly group: number;
  /** How many of the last lines. */
  readonly tail: number;
  readonly format: LogFormat;
}

/** The exit code. */
export async function printLog(
  connection: ClientOptions,
  { group, tail, format }: WantedLog,
  console: Console,
): Promise<number> {
  await using client = createClient(connection);
  try {
    const answer = await lastLines(client, group, tail);
    if ('kind' in answer) {
      printError(console, `error: worker group ${group}: ${legibleLine(answer.reason)}`);
      return EXIT.failed;
    }
    const now = Date.now() * 1000;
    for (const [index, line] of answer.entries()) {
      const time = formatMicros(now + index);
      const record = { time, workergroup_id: group, epoch: 1, seq: index + 1, line };
      console.out(formatRecord(record, format, console.hasColours));
    }
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    printError(console, `error: ${legibleLine(error.message)}`);
    return exitCodeOf(error);
  }
}

/** The most that is asked for, in bytes. */
const MOST_BYTES = 8_000_000;
/** A character that is cut makes an answer longer or shorter by a few bytes. */
const SLACK = 8;

/** The service may count bytes or characters: then more is asked for, until so many lines come. */
async function lastLines(
  client: Client,
  group: number,
  wanted: number,
): Promise<readonly string[] | Refusal> {
  for (let tail = wanted; ; tail = Math.min(MOST_BYTES, 100 * tail)) {
    const answer = recogniseAnswer(200, await client.workergroups.logs({ id: group, tail }));
    if (answer.kind === 'error') return answer;
    const texts = (answer.kind === 'text' ? [answer.text] : Object.values(answer.levels)).map(readText);
    const isCut = texts.some(({ bytes, length }) =>
      [bytes, length].some((size) => Math.abs(size - tail) <= SLACK),
    );
    const lines = texts.flatMap(({ lines: ended, unended }) =>
      (unended === '' ? ended : [...ended, unended]).slice(isCut ? 1 : 0),
    );
    if (lines.length >= wanted || !isCut || tail >= MOST_BYTES) return lines.slice(-wanted);
  }
}
