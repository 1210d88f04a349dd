import { badRequest } from '../answers/answer.ts';
import type { EndpointLogs, GroupLog } from '../state/endpoints.ts';
import { firstRetained, lineCount, linesBetween } from '../worker-log/group-log.ts';
import type { HandlerContext } from './define.ts';

interface LevelFile {
  readonly log: GroupLog;
  readonly level: keyof EndpointLogs;
}

type LogAnswerContext = Pick<HandlerContext, 'state' | 'nowMs'>;

/** `tail` for all bytes of a file. */
const ALL = -1;
/** Lines read at once, from the end upwards. */
const PIECE = 256;

/** `info0` holds everything: it is the answer without levels. @throws Refused bad_request */
export function answerLog(logs: Partial<EndpointLogs>, tail: number, context: LogAnswerContext) {
  const { tail_unit: unit, log_shape: shape } = context.state.traits;
  if (tail < (unit === 'bytes' ? ALL : 1) || tail === 0)
    throw badRequest('tail', unit === 'bytes' ? 'from 1, or -1 for all' : 'from 1');
  const text = (level: keyof EndpointLogs): string => {
    const log = logs[level];
    return log === undefined ? '' : endOf({ log, level }, tail, context);
  };
  if (shape === 'text') return { logs: text('info0') };
  return { info0: text('info0'), info1: text('info1'), trace: text('trace'), debug: text('debug') };
}

function endOf(file: LevelFile, tail: number, context: LogAnswerContext): string {
  const { state, nowMs } = context;
  const first = firstOfFile(file, context);
  const [end, last] = [lineCount(file.log, nowMs), file.log.unfinished];
  if (state.traits.tail_unit === 'lines') {
    const lines = Math.min(tail, state.settings.logTailMax) - Number(last !== '');
    return textOf(file, Math.max(first, end - lines), end, context) + last;
  }
  const most = tail === ALL ? Infinity : tail;
  const pieces = [last];
  let bytes = Buffer.byteLength(last);
  for (let to = end; to > first && bytes < most; to -= PIECE) {
    const piece = textOf(file, Math.max(first, to - PIECE), to, context);
    pieces.unshift(piece);
    bytes += Buffer.byteLength(piece);
  }
  const text = pieces.join('');
  // A character cut in half becomes a replacement character, as in the service.
  return bytes <= most ? text : Buffer.from(text).subarray(-most).toString();
}

function textOf(file: LevelFile, from: number, to: number, context: LogAnswerContext): string {
  return linesOf(file, from, to, context)
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf({ log, level }: LevelFile, from: number, to: number, context: LogAnswerContext): string[] {
  const lines = linesBetween(log, { from, to }, context.nowMs);
  // Redrawn lines, such as progress bars, show their last state.
  return level === 'info1' ? lines.map((line) => line.replace(/^[^]*\r(?=[^])/, '')) : lines;
}

/** Index of the first line in the file. A line that does not fit starts a new file. */
function firstOfFile(file: LevelFile, context: LogAnswerContext): number {
  const { state, nowMs } = context;
  const { log, level } = file;
  const retained = firstRetained(log, nowMs);
  const most = state.traits.log_file_bytes;
  if (most === 'unlimited') return retained;
  const counted = (log.files[level] ??= { first: retained, end: retained, bytes: 0 });
  if (counted.first < log.clearedBefore)
    Object.assign(counted, { first: log.clearedBefore, end: log.clearedBefore, bytes: 0 });
  let index = Math.max(counted.end, retained);
  for (const line of linesOf(file, index, Infinity, context)) {
    const bytes = Buffer.byteLength(line) + 1;
    if (counted.bytes + bytes > most) Object.assign(counted, { first: index, bytes: 0 });
    counted.bytes += bytes;
    index += 1;
  }
  counted.end = index;
  return Math.max(counted.first, retained);
}
