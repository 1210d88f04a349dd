/**
 * The heart's own few log lines, in the format of the daemon's logger (pino): the same fields in the same order. Not
 * pino itself, because this process loads nothing that it can do without, and must not wait for a slow stderr.
 */
import { LOG_LEVELS, type LogLevel } from '../../../config/types/value-types.ts';
import type { Redaction } from '../../../contract/text/redaction.ts';
import type { Stderr } from './stderr.ts';

export type LogFields = Readonly<Record<string, unknown>>;
export type HeartLog = Readonly<Record<LogLevel, (fields: LogFields, message: string) => void>>;

export interface HeartLogOptions {
  readonly stderr: Stderr;
  /** Asked at each line: a reload may change it. */
  readonly level: () => LogLevel;
  readonly format: 'json' | 'text';
  readonly redaction: Redaction;
  /** Hears of every line that is written, for the metric. */
  readonly onMessage: (level: LogLevel) => void;
}

export function createHeartLog(options: HeartLogOptions): HeartLog {
  const { stderr, format, redaction } = options;

  function write(level: LogLevel, fields: LogFields, message: string): void {
    if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(options.level())) return;
    options.onMessage(level);
    const time = new Date().toISOString();
    const line =
      format === 'json'
        ? redaction.json(asJson(level, time, fields, message))
        : asText(level, time, redaction.json(JSON.stringify(fields)), redaction.text(message));
    stderr.write(`${line}\n`);
  }

  return Object.fromEntries(
    LOG_LEVELS.map((level) => [level, (fields: LogFields, message: string) => write(level, fields, message)]),
  ) as HeartLog;
}

function asJson(level: LogLevel, time: string, fields: LogFields, msg: string): string {
  return JSON.stringify({ level, time, ...fields, msg });
}

/** `[07:58:01.123] WARN: heartbeat state changed {"deploymentId":42}`, as pino-pretty writes it. */
function asText(level: LogLevel, time: string, fields: string, message: string): string {
  const rest = fields === '{}' ? '' : ` ${fields}`;
  return `[${time.slice(11, 23)}] ${level.toUpperCase()}: ${message}${rest}`;
}
