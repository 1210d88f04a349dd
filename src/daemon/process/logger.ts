/** Errors are logged by allow-list, and secrets are cut out of the finished line. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { Redaction } from '../../contract/text/redaction.ts';
import type { LogLevel } from '../../config/value-types.ts';
import { isText, type MessageFormat } from '../../heartbeat/process/log.ts';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: MessageFormat;
  readonly redaction: Redaction;
  /** Hears of every message that is written, for the metric. */
  readonly onMessage: (level: LogLevel) => void;
  readonly destination: DestinationStream & { readonly isTerminal?: boolean };
}

export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const destination = isText(options.format, options.destination.isTerminal)
    ? await prettyPrinter(options.destination)
    : options.destination;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: {
        logMethod(args, method, level) {
          options.onMessage(pino.levels.labels[level] as LogLevel);
          method.apply(this, args);
        },
        streamWrite: (line) => options.redaction.json(line),
      },
    },
    destination,
  );
}

/** An allow-list. The stack helps only if the bug is ours. */
function describeError(error: unknown): Record<string, unknown> {
  if (error instanceof PilotlightError) {
    return { type: error.name, code: error.code, actor: error.actor, message: error.message };
  }
  if (error instanceof Error) return { type: error.name, message: error.message, stack: error.stack };
  return { type: typeof error };
}

/** Imported as a whole: a bundle knows no names of a CommonJS package. */
async function prettyPrinter(destination: LoggerOptions['destination']): Promise<DestinationStream> {
  const { default: pinoPretty } = await import('pino-pretty');
  const pretty = pinoPretty.prettyFactory({
    colorize: destination.isTerminal ?? false,
    singleLine: true,
    translateTime: 'yyyy-mm-dd HH:MM:ss.l',
  });
  return { write: (line) => destination.write(pretty(line)) };
}
