/** `pilotlight logs`: the last lines that the service has. */
import type { Client } from '../../client/client.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { formatMicros, type LogSource, originOf } from '../../logs/record.ts';
import { readText, recogniseAnswer } from '../../logs/answer.ts';
import { CommandError } from '../command-error.ts';
import type { Console } from '../console.ts';
import { legibleLine } from '../text/legible.ts';
import { formatRecord, createHistory, matches, nameOf, NO_TIMES, type WantedLog } from './format.ts';

export async function printLog(client: Client, wanted: WantedLog, console: Console): Promise<void> {
  const { source, since, levels: wantedLevels, tail, format } = wanted;
  const levels = await lastLines(client, source, since === undefined ? tail : MOST_LINES);
  const history = createHistory<{ level: string; line: string }>(wanted, ({ line }) => line, Date.now());
  for (const { level, lines } of levels)
    if (level === '' || wantedLevels.length === 0 || wantedLevels.includes(level))
      for (const line of lines) history.add(level, { level, line });
  if (history.isTimeless()) throw new CommandError(NO_TIMES, EXIT.failed);
  const now = Date.now() * 1000;
  const shown = history.lines().filter(({ line }) => matches(wanted, line));
  for (const [index, { level, line }] of shown.entries()) {
    const place = { time: formatMicros(now + index), ...originOf(source), epoch: 1, seq: index + 1 };
    const record = { ...place, line, ...(level !== '' && { level }) };
    console.out(formatRecord(record, format));
  }
}

const MOST_LINES = 1_000_000;
const MOST_BYTES = 8_000_000;
/** A cut character makes an answer longer or shorter by a few bytes. */
const SLACK = 8;

/** The service may count bytes or characters: then this asks for more. @throws CommandError */
async function lastLines(client: Client, source: LogSource, wanted: number) {
  const { kind, id } = source;
  const operations = kind === 'workergroup' ? client.workergroups : client.endpointGroups;
  for (let tail = Math.min(MOST_BYTES, wanted); ; tail = Math.min(MOST_BYTES, 100 * tail)) {
    const answer = recogniseAnswer(200, await operations.logs({ id, tail }));
    if (answer.kind === 'error')
      throw new CommandError(`${nameOf(source)}: ${legibleLine(answer.reason)}`, EXIT.failed);
    const bodies = answer.kind === 'text' ? { '': answer.text } : answer.levels;
    const levels = Object.entries(bodies).map(([level, body]) => {
      const { bytes, length, lines: ended, unended } = readText(body);
      const isCut = [bytes, length].some((size) => Math.abs(size - tail) <= SLACK);
      const lines = [...ended, ...(unended === '' ? [] : [unended])].slice(isCut ? 1 : 0);
      return { level, lines, isEnough: !isCut || lines.length >= wanted };
    });
    if (tail >= MOST_BYTES || levels.every(({ isEnough }) => isEnough)) return levels;
  }
}
