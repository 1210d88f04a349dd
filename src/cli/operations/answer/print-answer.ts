/** Prints an answer, of which nothing that is shown once is lost: not to a full disk, nor to its own depth. */
import { operationOf, type OperationId } from '../../../contract/operations.ts';
import { shownOncePaths } from '../../../wire/reading.ts';
import type { Console } from '../../console.ts';
import { legibleJson } from '../../../contract/text/controls.ts';
import { columnsOf } from './columns.ts';
import { renderAnswer } from './render.ts';

/** Resolves with whether standard output has taken it, as far as that matters. */
export function printAnswer(
  id: OperationId,
  answer: unknown,
  { json = false }: { readonly json?: boolean },
  console: Console,
): Promise<boolean> {
  return printResult(id, `${textOf(id, answer, json, console)}\n`, console);
}

/** What is shown once goes to standard error where standard output does not take it. */
export async function printResult(id: OperationId, text: string, console: Console): Promise<boolean> {
  if (shownOncePaths(operationOf(id).response).length > 0) return await console.outOrErr(text);
  console.out(text);
  return true;
}

function textOf(id: OperationId, answer: unknown, json: boolean, { columns }: Console): string {
  const written = (value: unknown): string =>
    json
      ? legibleJson(JSON.stringify(value, null, columns === undefined ? undefined : 2))
      : renderAnswer(value, operationOf(id).response, { columns, shown: columnsOf(id) }).join('\n');
  try {
    return written(answer);
  } catch (error) {
    // The stack is too small for its depth.
    if (!(error instanceof RangeError)) throw error;
    return written(withoutDepths(answer));
  }
}

/** Nobody reads what is nested more deeply. */
const DEEPEST = 64;

function withoutDepths(value: unknown, depth = DEEPEST): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '(nested too deeply to be shown)';
  if (Array.isArray(value)) return value.map((each) => withoutDepths(each, depth - 1));
  const fields = Object.entries(value).map(([name, each]) => [name, withoutDepths(each, depth - 1)] as const);
  return Object.fromEntries(fields);
}
