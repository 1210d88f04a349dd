/** A terminal for `runProgram` that remembers what was printed, and whose user is the test. */
import type { Console } from '../../src/cli/console.ts';
import { runProgram } from '../../src/cli/program.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Around {
  /** The variables without their prefix. */
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly ask?: (question: string) => string | Promise<string>;
  readonly stdin?: string;
  readonly read?: (path: string) => string;
  readonly signal?: AbortSignal;
}

/** Runs the program in this process as its `main` does. */
export async function pilotlight(words: readonly string[], around: Around = {}): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  let code = 0;
  const {
    env = {},
    columns,
    ask,
    stdin = '',
    read = () => stdin,
    signal = new AbortController().signal,
  } = around;
  const console: Console = {
    environment: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [`PILOTLIGHT_${name}`, value]),
    ),
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
    read,
    interruptible: (work) => work(signal),
    exit: (exitCode) => (code = exitCode),
  };
  await runProgram(['node', 'pilotlight', ...words], console);
  return { code, ...printed };
}
