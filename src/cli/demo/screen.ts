/** How the demo looks: a clock, who speaks, what it says; colour on a terminal only, one line each. */
import { styleText } from 'node:util';
import type { LogRecord } from '../../logs/record.ts';
import { printLine, type Console } from '../console.ts';
import { clip } from '../text/cell-width.ts';
import { describeGap, displayed } from '../logs/format.ts';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'quiet';

const COLOURS = { good: 'green', warn: 'yellow', bad: 'red', quiet: 'dim' } as const;

export interface Screen {
  heading(line: string): void;
  /** One event: who it is about, and what happened. */
  event(subject: string, text: string, tone?: Tone): void;
  record(record: LogRecord): void;
}

const SUBJECT_WIDTH = 16;
const WIDTH_WITHOUT_TERMINAL = 110;

export function createScreen(console: Console): Screen {
  const startedAt = performance.now();

  function event(subject: string, text: string, tone: Tone = 'plain'): void {
    const elapsed = Math.floor((performance.now() - startedAt) / 1000);
    const clock = `${String(Math.floor(elapsed / 60)).padStart(2, '0')}:${String(elapsed % 60).padStart(2, '0')}`;
    const width = console.columns ?? WIDTH_WITHOUT_TERMINAL;
    const line = clip(`${clock}  ${subject.padEnd(SUBJECT_WIDTH)}${text}`, width);
    const isPlain = !console.hasColours || tone === 'plain';
    printLine(console, isPlain ? line : styleText(COLOURS[tone], line, { validateStream: false }));
  }

  return {
    heading: (line) => printLine(console, line.trimEnd()),
    event,
    record(record) {
      const { workergroup_id, endpoint } = record;
      const subject = endpoint === undefined ? `worker group ${workergroup_id}` : `endpoint ${endpoint}`;
      if ('gap' in record) event(subject, describeGap(record.gap), 'bad');
      else event(subject, displayed(record.line), 'quiet');
    },
  };
}
