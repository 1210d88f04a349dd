/** What a command has around it, handed in so that tests can be the terminal. */
import { fstatSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import * as consumers from 'node:stream/consumers';
import { legible } from './text.ts';
import { EXIT } from '../config/exit-codes.ts';
import type { Environment } from '../config/values.ts';
import { isRecord, parseJsonOr } from '../contract/is-record.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import { legibleJson } from '../contract/text/controls.ts';

export interface Console {
  /** Undefined: the process' own. */
  readonly environment: Environment | undefined;
  /** Width of the terminal that results go to; undefined for a file or a pipe. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  /** Width of the terminal of `err`; undefined for a file or a pipe. */
  readonly errColumns: number | undefined;
  readonly hasColours: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** For results that exist nowhere else: `err` gets them if `out` fails. Whether `out` took them. */
  readonly outOrErr: (text: string) => Promise<boolean>;
  /** Resolves when all results so far have been taken, also by a reader that has left. */
  taken(): Promise<void>;
  /** Asks a person, without echo; undefined when no person is there. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
  readonly read: (path: string) => Promise<string>;
  readonly interruptible: ReturnType<typeof createInterrupts>['interruptible'];
  exit(code: number): void;
}

/** The process' own streams and signals. A reader that leaves never ends the process with a stack. */
export function processConsole(): Console {
  const { stdin, stdout, stderr } = process;
  const { interruptible, readerLeft } = createInterrupts();
  const err = (text: string): void => void stderr.write(text);
  const failed = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') return readerLeft();
    err(`error: the results cannot be written: ${error.message}\n`);
    process.exit(EXIT.failed);
  };
  const onFile = fstatSync(stdout.fd).isFile();
  const out = onFile
    ? (text: string, done: Done): void => done(writeAll(stdout.fd, text))
    : (text: string, done: Done): void => void stdout.write(text, done);
  stdout.on('error', failed);
  // Lost messages change nothing: the command goes on, and its exit code says how it ended.
  stderr.on('error', () => {});
  return {
    environment: undefined,
    get columns() {
      return stdout.isTTY ? stdout.columns : undefined;
    },
    get rows() {
      return stdout.isTTY ? stdout.rows : undefined;
    },
    get errColumns() {
      return stderr.isTTY ? stderr.columns : undefined;
    },
    hasColours: stdout.isTTY && stdout.hasColors(),
    out: (text) =>
      out(text, (error) => {
        // A stream has its own error event.
        if (error && onFile) failed(error);
      }),
    err,
    outOrErr: (text) =>
      new Promise((resolve) => {
        out(text, (error) => {
          if (error) {
            err(`error: the results cannot be written: ${error.message}; here they are\n${text}`);
            // Before the stream's own error, which may end the process.
            process.exitCode = EXIT.failed;
          }
          resolve(!error);
        });
      }),
    taken: () =>
      new Promise((resolve) => {
        stdout.write('', () => resolve());
      }),
    ask: stdin.isTTY && stderr.isTTY ? (question, signal) => askHidden(question, signal, err) : undefined,
    read: readText,
    interruptible,
    exit: (code) => {
      process.exitCode = code;
    },
  };
}

/** The answer is not shown. Rejects when the signal fires, and at Ctrl-C or Ctrl-D. */
async function askHidden(question: string, signal: AbortSignal, err: (text: string) => void) {
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nothing, terminal: true });
  // From here on the terminal does not echo.
  err(question);
  const ended = new AbortController();
  lines.once('SIGINT', () => ended.abort());
  lines.once('close', () => ended.abort());
  try {
    const answer = await lines.question('', { signal: AbortSignal.any([signal, ended.signal]) });
    return answer.trim();
  } finally {
    err('\n');
    lines.close();
  }
}

/** A file, or standard input if its name is `-`. @throws InputError */
export async function readText(path: string): Promise<string> {
  try {
    const file = path === '-' ? await consumers.text(process.stdin) : await readFile(path, 'utf8');
    // Some editors begin UTF-8 with it, and it is not JSON.
    return file.replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new InputError(`${path}: ${(cause as Error).message}`, { cause });
  }
}

type Done = (error?: NodeJS.ErrnoException | null) => void;

/** Node's own stream for a file reports success if a full disk took a part of the text. Returns the error. */
function writeAll(fd: number, text: string): NodeJS.ErrnoException | undefined {
  try {
    for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(fd, rest));
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

export function printLine({ out }: Pick<Console, 'out'>, line: string): void {
  out(`${line}\n`);
}

const LONGEST_MESSAGE = 8_000;

export function printError({ err }: Pick<Console, 'err'>, line: string): void {
  const cut = line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
  err(`${legible(cut)}\n`);
}

/** On one line for programs, indented for a person. Infinity and NaN, which JSON lacks, are names. */
export function printJson({ out, columns }: Pick<Console, 'out' | 'columns'>, value: unknown): void {
  const named = (_: string, each: unknown) =>
    typeof each === 'number' && !Number.isFinite(each) ? String(each) : each;
  out(`${legibleJson(JSON.stringify(value, named, columns === undefined ? undefined : 2))}\n`);
}

export class CommandError extends PilotlightError {
  readonly code: string = 'command_failed';
  readonly actor = 'user';
  readonly exit: number;

  constructor(message: string, exit: number, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}

export class InputError extends CommandError {
  override readonly code = 'invalid_input';

  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.usage, options);
  }
}

/** As `head` does. */
export const READER_LEFT = new DOMException('the reader of the results has left', 'AbortError');

export function createInterrupts() {
  const running = new Set<AbortController>();
  return {
    /** The first Ctrl-C or SIGTERM fires the signal of the work, a second one ends the process at once. */
    interruptible: async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      const controller = new AbortController();
      const interrupt = (): void => {
        if (controller.signal.aborted) process.exit(EXIT.interrupted);
        controller.abort();
      };
      running.add(controller);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
      try {
        return await untilInterrupted(controller.signal, work);
      } finally {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt);
        running.delete(controller);
      }
    },
    /** Ends the work in order, or the process if there is none. */
    readerLeft: (): void => {
      // With the exit code set so far.
      if (running.size === 0) process.exit();
      for (const controller of running) controller.abort(READER_LEFT);
    },
  };
}

/** A failure after the signal has fired is because of it. @throws the signal's reason, or the failure */
export async function untilInterrupted<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) {
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** If `| head` closes the pipe, the command has not failed. */
export function interruptedExit(reason: unknown): number {
  return reason === READER_LEFT ? EXIT.ok : EXIT.interrupted;
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Undefined: not one JSON object. Takes a byte order mark. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJsonOr(text.trim());
  return isRecord(value) ? value : undefined;
}

/** One group, an array, or the list that the service answers; `-` is standard input. @throws InputError */
export async function readGroupFile(path: string, read: Console['read']) {
  const json = await read(path);
  let file: unknown;
  try {
    file = JSON.parse(json);
  } catch (cause) {
    // The parser quotes the text around the mistake, and a row holds a key.
    const why = (cause as Error).message.replace(/, (?:\.{3})?".* is not valid JSON$/s, '');
    throw new InputError(`${path}: not JSON: ${why}`);
  }
  const listed = isRecord(file) && Array.isArray(file['results']) ? file['results'] : file;
  const isArray = Array.isArray(listed);
  return { groups: (isArray ? listed : [listed]) as readonly unknown[], isArray };
}

const CELLS = 20;
const DRAW_MS = 100;

export type ProgressBar = ReturnType<typeof progressBar>;

/** On stderr, if that is a terminal. `now`: ms. */
export function progressBar(console: Pick<Console, 'err' | 'errColumns'>, now = () => performance.now()) {
  const startedAt = now();
  let drawnAt = -Infinity;

  /** Empty until it can be judged. */
  function left(at: number, share: number): string {
    const passed = (at - startedAt) / 1000;
    if (passed < 1 || share === 0) return '';
    return `  about ${Math.ceil((passed * (1 - share)) / share)} s left`;
  }

  return {
    /** `share`: 0 to 1; `done` and `note` are words about it. */
    update(share: number, done: string, note = ''): void {
      const at = now();
      const { errColumns: columns } = console;
      if (columns === undefined || (at - drawnAt < DRAW_MS && share !== 1)) return;
      drawnAt = at;
      const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
      const full = Math.round(share * CELLS);
      const bar = '█'.repeat(full) + '░'.repeat(CELLS - full);
      const line = `${bar} ${percent}${left(at, share)}  ${[done, note].filter(Boolean).join(', ')}`;
      // A longer line would wrap, and stay.
      console.err(`\r\u001B[K${line.slice(0, Math.max(0, columns - 1))}`);
    },
    end(): void {
      if (console.errColumns !== undefined) console.err('\r\u001B[K');
    },
  };
}
