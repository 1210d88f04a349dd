/** What a command has around it, handed in so that tests can be the terminal. */
import { fstatSync, readFileSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Environment } from '../config/values.ts';
import { EXIT } from '../config/exit-codes.ts';
import { InputError } from './command-error.ts';
import { legibleJson } from '../contract/text/controls.ts';
import { legible } from './text/legible.ts';
import { createInterrupts } from './interrupts.ts';

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
  readonly read: (path: string) => string;
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
  const onFile = isFile(stdout.fd);
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

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

export function readText(path: string): string {
  try {
    return path === '-' ? readStandardInput() : readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InputError(`${path}: ${(cause as Error).message}`, { cause });
  }
}

const CHUNK = 65_536;
const POLL_MS = 10;

/** Reading a pipe says EAGAIN if any module imported node:process: `process.stdin` is not blocking. */
function readStandardInput(): string {
  const chunks: Buffer[] = [];
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      const chunk = Buffer.alloc(CHUNK);
      const bytes = readSync(0, chunk);
      if (bytes === 0) return Buffer.concat(chunks).toString('utf8');
      chunks.push(chunk.subarray(0, bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, POLL_MS);
    }
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
