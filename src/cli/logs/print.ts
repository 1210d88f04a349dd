/** `pilotlight logs`: the last lines that the service has; which lines are shown, and how. */
import { styleText } from 'node:util';
import { CommandError, type Console } from '../console.ts';
import { displayed, legibleLine } from '../text.ts';
import type { Client } from '../../client/client.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { DAY_MS } from '../../contract/times.ts';
import { legibleJson } from '../../contract/text/controls.ts';
import { readText, recogniseAnswer } from '../../logs/answer.ts';
import { formatMicros, originOf, type Gap, type LogRecord, type LogSource } from '../../logs/record.ts';
import { toJsonLine } from '../../logs/sinks/stdout.ts';

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

export interface LogFormat {
  readonly json?: boolean;
  readonly timestamps?: boolean;
  readonly colour?: boolean;
}

/** Ends with a line break. Colours of the worker's own are removed: they may not fit this terminal. */
export function formatRecord(record: LogRecord, { json, timestamps, colour }: LogFormat): string {
  if (json) return legibleJson(toJsonLine(record));
  const time = timestamps ? `${record.time} ` : '';
  const text = 'gap' in record ? describeGap(record.gap) : displayed(record.line);
  return `${time}${colour ? coloured(text) : text}\n`;
}

export function describeGap({ reason, lost_min: least, lost_estimate: estimate }: Gap): string {
  switch (reason) {
    case 'overrun':
      return estimate === null
        ? `gap: an unknown number of lines (at least ${least}) was lost before they could be read`
        : `gap: about ${estimate} lines (at least ${least}) were lost before they could be read`;
    case 'reset':
      return 'gap: the log began again here; the last lines before it may be lost';
    case 'handover':
      return `gap: ${estimate} lines that another replica had taken may not be delivered yet`;
    case 'ambiguous':
      return estimate === null
        ? 'gap: some lines that repeat may have been taken for old ones'
        : `gap: up to ${estimate} lines that repeat may have been taken for old ones`;
  }
}

function coloured(text: string): string {
  const isBad = /\b(?:ERROR|CRITICAL|FATAL|Traceback)\b/.test(text);
  if (!isBad && !/\bWARN(?:ING)?\b/.test(text)) return text;
  return styleText(isBad ? 'red' : 'yellow', text, { validateStream: false });
}

export interface WantedLog {
  readonly source: LogSource;
  /** Of each level. */
  readonly tail: number;
  /** Unix milliseconds. */
  readonly since: number | undefined;
  /** Empty: all. */
  readonly levels: readonly string[];
  readonly grep: RegExp | undefined;
  readonly format: LogFormat;
}

/** `worker group 7`, `endpoint chat` */
export function nameOf(source: LogSource): string {
  return source.kind === 'workergroup' ? `worker group ${source.id}` : `endpoint ${source.name}`;
}

export function matches({ grep }: Pick<WantedLog, 'grep'>, line: string): boolean {
  return grep === undefined || grep.test(displayed(line));
}

export const NO_TIMES =
  '--since needs lines that begin with a time, and none of these does; use --tail to say how many lines you want';

/** What there is of a log at the start. A line without a time has the time of the line before it. */
export function createHistory<Line>(
  { since, tail }: Pick<WantedLog, 'since' | 'tail'>,
  textOf: (line: Line) => string,
  nowMs: number,
) {
  const levels = new Map<string, { readonly kept: (readonly [at: number, line: Line])[]; at: number }>();
  let hasTimes = false;
  return {
    add(level: string, line: Line): void {
      const of = levels.get(level) ?? { kept: [], at: -Infinity };
      levels.set(level, of);
      const at = timeOfLine(textOf(line), nowMs);
      hasTimes ||= at !== undefined;
      of.at = at ?? of.at;
      if (of.at < (since ?? -Infinity)) return;
      of.kept.push([of.at, line]);
      if (of.kept.length > 2 * tail) of.kept.splice(0, of.kept.length - tail);
    },
    isTimeless: () => since !== undefined && !hasTimes && levels.size > 0,
    lines: (): Line[] =>
      [...levels.values()]
        .flatMap(({ kept }) => kept.slice(-tail))
        .toSorted(([one], [other]) => (one === other ? 0 : one - other))
        .map(([, line]) => line),
  };
}

const ISO = /\b(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?/;
/** `10-08 09:15:02` of vLLM; `Nov 27 08:00:12` of syslog. */
const WITHOUT_YEAR = /\b(\d\d-\d\d|[A-Z][a-z]{2} +\d{1,2}) (\d\d:\d\d:\d\d)\b/;
/** `1790000000.123[456]` of the engine; or in milliseconds. */
const EPOCH = /^\D{0,2}(\d{10})(?:(\d{3})|\.(\d{3}))\b/;
/** A time further on belongs to the text of the line. */
const BEGINNING = 80;

/** Unix milliseconds, undefined if there is none. Without a zone it is UTC, without a year the last one. */
export function timeOfLine(line: string, nowMs: number): number | undefined {
  const text = line.slice(0, BEGINNING);
  const epoch = EPOCH.exec(text);
  if (epoch) return Number(epoch[1]) * 1_000 + Number(epoch[2] ?? epoch[3]);
  const iso = ISO.exec(text);
  if (iso) {
    const [, year, month, day, hour, minute, second, fraction = '0', zone = 'Z'] = iso;
    return valid(
      Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3)}${zone}`),
    );
  }
  const [, date, time] = WITHOUT_YEAR.exec(text) ?? [];
  if (date === undefined) return undefined;
  const year = new Date(nowMs).getUTCFullYear();
  const at = (of: number) => valid(Date.parse(`${date.replace('-', ' ')} ${of} ${time} UTC`));
  const thisYear = at(year);
  return thisYear !== undefined && thisYear > nowMs + DAY_MS ? at(year - 1) : thisYear;
}

function valid(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms;
}
