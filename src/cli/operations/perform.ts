/** Sends what a command asks for, or shows it; the one way in which every command and `call` reach the service. */
import { createClient, type CallOptions } from '../../client/client.ts';
import { ApiError, CallError, ResponseError } from '../../client/errors.ts';
import { adviceOf } from '../../client/flows/explain.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { describeProblem } from '../../config/problem.ts';
import { loadConnection } from '../../config/load.ts';
import { encodeRequest } from '../../wire/request.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { printError, printLine, type Console } from '../console.ts';
import { exitCodeOf } from '../exit-code.ts';
import { completeInput } from './ask-codes.ts';
import { flagsOf } from './flags.ts';
import { describeInputProblem, type Input } from './input.ts';
import { curlLine, httpText, KEY_MARK, previewRequest } from './preview.ts';
import { displayed } from '../logs/format.ts';
import { renderAnswer } from './render.ts';

export interface PerformOptions {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly curl?: boolean;
  readonly timeout?: number;
  /** The input came as fields and not as flags: problems are told in their names. */
  readonly fields?: boolean;
}

/** The exit code. Results go to stdout, everything else to stderr. */
export async function perform(
  id: OperationId,
  input: Input,
  options: PerformOptions,
  console: Console,
): Promise<number> {
  if (options.dryRun || options.curl) return show(id, input, options, console);
  const { connection, problems } = loadConnection(console.environment);
  if (!connection) {
    for (const problem of problems) printError(console, describeProblem(problem));
    console.err(describeProblems(id, input, options) ?? '');
    return EXIT.usage;
  }
  await using client = createClient(connection);
  return await console.interruptible(async (signal) => {
    try {
      const complete = await completeInput(operationOf(id), input, client, console, signal);
      const problem = describeProblems(id, complete, options);
      if (problem !== undefined) {
        console.err(problem);
        return EXIT.usage;
      }
      const callOptions: CallOptions = {
        signal,
        ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
      };
      print(id, await client.call(id, complete, callOptions), options, console);
      return EXIT.ok;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return EXIT.interrupted;
      if (!(error instanceof CallError)) throw error;
      return explain(error, console);
    }
  });
}

function print(id: OperationId, answer: unknown, { json }: PerformOptions, console: Console): void {
  const { columns } = console;
  if (json) printLine(console, JSON.stringify(answer, null, columns === undefined ? undefined : 2));
  else for (const line of renderAnswer(answer, operationOf(id).response, columns)) printLine(console, line);
}

function explain(error: CallError, console: Console): number {
  printError(console, `error: ${error.message}`);
  if (error instanceof ResponseError && !operationOf(error.operation).repeatable) {
    // It may have been done, and what it answers be shown only this once.
    printError(console, 'the answer follows on standard output as it came');
    for (const line of error.rawAnswer().split('\n')) printLine(console, displayed(line));
  }
  const advice = error instanceof ApiError ? adviceOf(error) : '';
  if (advice !== '') printError(console, advice);
  return exitCodeOf(error);
}

/** Needs no key and no address: what is not configured is shown as a variable. */
function show(id: OperationId, input: Input, options: PerformOptions, console: Console): number {
  const operation = operationOf(id);
  const encoded = encodeRequest(operation, input, KEY_MARK);
  if (!encoded.ok) {
    console.err(describeProblems(id, input, options) ?? '');
    return EXIT.usage;
  }
  const { addresses } = loadConnection(console.environment);
  if (options.curl) {
    const { line, variables } = curlLine(operation, encoded.request, addresses);
    printError(console, `# reads ${variables.map((name) => `$${name}`).join(', ')} from the environment`);
    printLine(console, line);
    return EXIT.ok;
  }
  const preview = previewRequest(operation, encoded.request, addresses, () => '<redacted>');
  printLine(console, options.json ? JSON.stringify(preview) : httpText(preview));
  return EXIT.ok;
}

/** Everything wrong with an input, a line each; undefined when nothing is. */
function describeProblems(
  id: OperationId,
  input: Input,
  { fields = false }: PerformOptions,
): string | undefined {
  const operation = operationOf(id);
  const encoded = encodeRequest(operation, input, KEY_MARK);
  if (encoded.ok) return undefined;
  const flags = flagsOf(operation);
  return encoded.problems
    .map((problem) => `error: ${describeInputProblem(operation, fields ? [] : flags, problem)}\n`)
    .join('');
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
