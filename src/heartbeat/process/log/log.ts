/** The heart's log, as pino would write it. Not pino itself: this process loads little, and waits for no slow stderr. */
import { LOG_LEVELS, type LogLevel } from '../../../config/types/value-types.ts';
import type { Redaction } from '../../../contract/text/redaction.ts';
import type { Message } from './messages.ts';
import type { Stderr } from './stderr.ts';

export type LogFields = Readonly<Record<string, unknown>>;
/** False: the message was logged too recently about the same subject. */
export type HeartLog = (message: Message, fields?: LogFields, subject?: string) => boolean;

export type MessageFormat = 'auto' | 'json' | 'text';

/** A person reads a terminal. */
export function isText(format: MessageFormat, isTerminal = false): boolean {
  return format === 'text' || (format === 'auto' && isTerminal);
}

export interface HeartLogOptions {
  readonly stderr: Pick<Stderr, 'write'> & { readonly isTerminal?: boolean };
  /** Read at each line, because a reload may change it. */
  readonly level: () => LogLevel;
  readonly format: MessageFormat;
  readonly redaction: Redaction;
  /** Called with each line that is written, for the metric. */
  readonly onMessage: (level: LogLevel) => void;
}

export const NAMED = 20;
/** Longer than any message waits to be repeated, ms. */
const FORGOTTEN_MS = 10 * 60_000;

export function counted(ids: readonly number[]): LogFields {
  return { count: ids.length, deploymentIds: ids.slice(0, NAMED) };
}

export function createHeartLog({ stderr, level, format, redaction, onMessage }: HeartLogOptions): HeartLog {
  /** When a message was logged last, and how often since then it was not. */
  const write = isText(format, stderr.isTerminal) ? asText : asJson;
  const logged = new Map<string, { readonly at: number; suppressed: number }>();

  /** How many were suppressed before this one; undefined: so is this one. */
  function suppressedBefore({ text, everyMs }: Message, subject: string): number | undefined {
    if (everyMs === undefined) return 0;
    const now = performance.now();
    for (const [old, { at }] of logged) if (now - at > FORGOTTEN_MS) logged.delete(old);
    const key = `${text} ${subject}`;
    const last = logged.get(key);
    if (last !== undefined && now - last.at < everyMs) {
      last.suppressed += 1;
      return undefined;
    }
    logged.set(key, { at: now, suppressed: 0 });
    return last?.suppressed ?? 0;
  }

  return (message, fields = {}, subject = '') => {
    const suppressed = suppressedBefore(message, subject);
    if (suppressed === undefined) return false;
    if (LOG_LEVELS.indexOf(message.level) > LOG_LEVELS.indexOf(level())) return true;
    onMessage(message.level);
    const all = message.isCounted && suppressed > 0 ? { ...fields, suppressed } : fields;
    stderr.write(`${write(message, all, redaction)}\n`);
    return true;
  };
}

function asJson({ level, text }: Message, fields: LogFields, redaction: Redaction): string {
  return redaction.json(JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: text }));
}

/** `[2026-11-28 07:58:01.123] WARN: heartbeat state changed {"deploymentId":42}`, as pino-pretty writes it. */
function asText({ level, text }: Message, fields: LogFields, redaction: Redaction): string {
  const json = redaction.json(JSON.stringify(fields));
  const time = new Date().toISOString().slice(0, 23).replace('T', ' ');
  return `[${time}] ${level.toUpperCase()}: ${redaction.text(text)}${json === '{}' ? '' : ` ${json}`}`;
}
