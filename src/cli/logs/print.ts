/** `pilotlight logs`: the last lines that the service has. */
import { createClient, type ClientOptions } from '../../client/client.ts';
import { CallError } from '../../client/errors.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { formatMicros } from '../../logs/record.ts';
import { recogniseAnswer, type TailAnswer } from '../../logs/answer.ts';
import { readText } from '../../logs/follower/text.ts';
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
    const answer = recogniseAnswer(200, await client.workergroups.logs({ id: group, tail }));
    if (answer.kind === 'error') {
      printError(console, `error: worker group ${group}: ${legibleLine(answer.reason)}`);
      return EXIT.failed;
    }
    const now = Date.now() * 1000;
    for (const [index, line] of linesOf(answer).slice(-tail).entries()) {
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

function linesOf(answer: Exclude<TailAnswer, { kind: 'error' }>): readonly string[] {
  const texts = answer.kind === 'text' ? [answer.text] : Object.values(answer.levels);
  return texts.flatMap((text) => {
    const { lines, unended } = readText(text);
    return unended === '' ? lines : lines.concat(unended);
  });
}
