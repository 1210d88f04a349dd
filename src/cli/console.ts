/** What a command has around it: where it writes, what it reads, whom it can ask. Handed in, so that tests can be the terminal. */
import { readFileSync } from 'node:fs';
import type { Environment } from '../config/values.ts';
import { EXIT } from './exit-codes.ts';
import { askHidden } from './ask.ts';

export interface Console {
  /** Undefined: the process' own. */
  readonly environment: Environment | undefined;
  /** Width of the terminal that results go to; undefined when they go to a file or a pipe. */
  readonly columns: number | undefined;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks a person, without echo; undefined when nobody sits there. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** The text of a file; `-` is standard input. */
  read(path: string): string;
  /** Runs work that Ctrl-C ends. */
  interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  exit(code: number): void;
}

export function processConsole(): Console {
  const { stdin, stdout, stderr } = process;
  return {
    environment: undefined,
    columns: stdout.isTTY ? stdout.columns : undefined,
    out(text) {
      if (stdout.listenerCount('error', endQuietly) === 0) stdout.on('error', endQuietly);
      stdout.write(text);
    },
    err: (text) => void stderr.write(text),
    ask: stdin.isTTY && stderr.isTTY ? askHidden : undefined,
    read: (path) => readFileSync(path === '-' ? 0 : path, 'utf8'),
    interruptible: untilInterrupted,
    exit: (code) => {
      process.exitCode = code;
    },
  };
}

/** Whoever read our output has left, as `head` does: nothing more to say, and no reason for a stack. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}

/** The first Ctrl-C aborts, a second one ends the process at once. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', interrupt);
  }
}
