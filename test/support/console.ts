/** A terminal for `runProgram` that remembers what was printed, and whose user is the test. */
import { type Console, untilInterrupted } from '../../src/cli/console.ts';
import { splitWords } from '../../src/contract/text/shell-words.ts';
import { runProgram } from '../../src/cli/program.ts';
import { prefixed } from './settings.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Around {
  /** The variables without their prefix. */
  readonly env?: Readonly<Record<string, string>>;
  /** The user's configuration folder; default: none. */
  readonly configFolder?: string;
  readonly columns?: number;
  readonly ask?: (question: string) => string | Promise<string>;
  readonly stdin?: string;
  readonly read?: (path: string) => string | Promise<string>;
  readonly signal?: AbortSignal;
}

export interface Running {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Fires the signal, as Ctrl-C does. */
  readonly interrupt: (reason?: unknown) => void;
  readonly exit: Promise<number>;
}

/** @throws With all that was printed, if stdout has no JSON. */
export function jsonIn({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): unknown {
  try {
    return JSON.parse(stdout);
  } catch (cause) {
    throw new Error(`stdout is not JSON: ${stdout}\nstderr: ${stderr}`, { cause });
  }
}

export async function pilotlight(words: readonly string[], around: Around = {}): Promise<Ran> {
  const running = startInProcess(words, around);
  const code = await running.exit;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** A line as it is typed, its quotes as in a shell. */
export function typed(line: string, around?: Around): Promise<Ran> {
  const words = splitWords(line).map(({ text }) => text);
  return pilotlight(words, around);
}

export function startInProcess(words: readonly string[], around: Around = {}): Running {
  const printed = { stdout: '', stderr: '' };
  let code = 0;
  const { env = {}, configFolder, columns, ask, stdin = '', read = () => stdin, signal } = around;
  const ending = new AbortController();
  const console: Console = {
    environment: {
      ...prefixed(env),
      XDG_CONFIG_HOME: configFolder,
    },
    columns,
    rows: undefined,
    errColumns: undefined,
    hasColours: false,
    out: (text) => (printed.stdout += text),
    err: (text) => (printed.stderr += text),
    outOrErr: (text) => {
      printed.stdout += text;
      return Promise.resolve(true);
    },
    taken: () => Promise.resolve(),
    ask: ask && (async (question) => ask(question)),
    read: async (path) => read(path),
    interruptible: (work) => untilInterrupted(signal ?? ending.signal, work),
    exit: (exitCode) => (code = exitCode),
  };
  return {
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    interrupt: (reason) => ending.abort(reason),
    exit: runProgram(['node', 'pilotlight', ...words], console).then(() => code),
  };
}
