import { pino, type Logger } from 'pino';

/** A logger, and what it has written. */
export function collectedLog(level = 'info'): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { logger: pino({ level, base: null, timestamp: false }, { write }), lines };
}
