/** How a log record looks to a person, or to a program. */
import { styleText } from 'node:util';
import { legibleJson } from '../../contract/text/controls.ts';
import { toJsonLine } from '../../logs/sinks/stdout.ts';
import { legible } from '../text/legible.ts';
import type { Gap, LogRecord } from '../../logs/record.ts';

export interface LogFormat {
  readonly json?: boolean;
  readonly timestamps?: boolean;
  readonly colour?: boolean;
}

/** One line of text with its end. Colours of the worker's own are left out: they may not fit this terminal. */
export function formatRecord(record: LogRecord, { json, timestamps, colour }: LogFormat): string {
  if (json) return legibleJson(toJsonLine(record));
  const time = timestamps ? `${record.time} ` : '';
  const text = 'gap' in record ? describeGap(record.gap) : displayed(record.line);
  return `${time}${colour ? coloured(text) : text}\n`;
}

/** What was lost, in words. */
export function describeGap({ reason, lost_min: least, lost_estimate: estimate }: Gap): string {
  switch (reason) {
    case 'overrun':
      return estimate === null
        ? `gap: an unknown number of lines (at least ${least}) was lost before they could be read`
        : `gap: about ${estimate} lines (at least ${least}) were lost before they could be read`;
    case 'reset':
      return 'gap: the log began again here; what was written just before may be lost';
    case 'handover':
      return `gap: ${estimate} lines that another replica had taken may not be delivered yet`;
    case 'ambiguous':
      return estimate === null
        ? 'gap: some lines that repeat may have been taken for old ones'
        : `gap: up to ${estimate} lines that repeat may have been taken for old ones`;
  }
}

/** What a terminal would show of a line in the end: without control sequences, a progress bar in its last state. */
export function displayed(line: string): string {
  const last = line.split('\r').findLast((part) => part !== '') ?? '';
  return legible(last);
}

function coloured(text: string): string {
  const isBad = /\b(?:ERROR|CRITICAL|FATAL|Traceback)\b/.test(text);
  if (!isBad && !/\bWARN(?:ING)?\b/.test(text)) return text;
  return styleText(isBad ? 'red' : 'yellow', text, { validateStream: false });
}
